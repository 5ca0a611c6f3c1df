import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { builtSite } from '#lib/site.ts';
import type { Demo } from '#local/demo-seeds.ts';
import type { Simulators } from '#test/simulators/server.ts';

/** The whole service in its own process, as `npm start` runs it. */
export interface RunningService {
  readonly demo: Demo;
  readonly folder: string;
  readonly process: ChildProcess;
  /** Everything that it has written to the terminal. */
  terminal(): string;
  /** Sends a signal, waits for the end and returns the exit code; null if the signal itself ended the process. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

export interface StartOptions {
  /** The data folder of an earlier start; a new one if it is left out. */
  readonly folder?: string;
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** With the documentation site of this clone, built first if it changed; else with one of a few files. */
  readonly withSite?: true;
  /** The providers; by default the sandbox. */
  readonly simulators?: Pick<Simulators, 'providerSecret'>;
}

/** A documentation site of a few files, for tests of everything but the site: its build takes half a minute. */
export const SMALL_SITE = fileURLToPath(new URL('../functions/site', import.meta.url));

/** The program of `npm start`. */
export const PROGRAM = fileURLToPath(new URL('../../bin/local.ts', import.meta.url));
const SIMULATED_PROGRAM = fileURLToPath(new URL('../simulators/service.ts', import.meta.url));
/** Shorter than the timeout of a test, so that its failure shows the output of the service. */
const READY_WITHIN_MS = 100_000;
const POLL_MS = 25;

/** Creates a folder for a service's data. Remove it after the test. */
export const newDataFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'buyer-linking-'));

export const removeDataFolder = (folder: string): Promise<void> =>
  rm(folder, { recursive: true, force: true });

/** Waits until the condition holds. The timeout of the test ends a wait for what never comes. */
export const until = async (holds: () => boolean | Promise<boolean>): Promise<void> => {
  while (!(await holds())) await sleep(POLL_MS);
};

/** Runs bin/local.ts, or another program, with these arguments and collects its output. */
export const spawnService = (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  program = PROGRAM,
) => {
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  const written: string[] = [];
  const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  child.stdout.setEncoding('utf8').on('data', (text: string) => written.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => written.push(text));
  return { child, exited, terminal: () => written.join('') };
};

/** Runs bin/local.ts to its end. Returns its exit code and its whole output, which may come after the exit. */
export const runService = async (
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) => {
  const { child, terminal } = spawnService(args, environment);
  const [code] = await once(child, 'close');
  return { code, text: terminal() };
};

const spawnWithProviders = async (folder: string, options: StartOptions) => {
  const { simulators, args = [], withSite } = options;
  const site = withSite ? await builtSite(console.log) : SMALL_SITE;
  const environment = { SITE_FOLDER: site, ...options.environment };
  if (simulators === undefined) return spawnService(['--port', '0', '--data', folder, ...args], environment);
  const secretFile = join(folder, 'provider-secret.json');
  await writeFile(secretFile, JSON.stringify(simulators.providerSecret));
  return spawnService([folder, secretFile], environment, SIMULATED_PROGRAM);
};

/** Starts the service on a free port and waits until it is ready. */
export const startRunningService = async (options: StartOptions = {}): Promise<RunningService> => {
  const folder = options.folder ?? (await newDataFolder());
  const { child, exited, terminal } = await spawnWithProviders(folder, options);
  const readyFile = join(folder, 'demo.json');
  const deadline = Date.now() + READY_WITHIN_MS;
  // The service removes the file of a killed predecessor before it prints that it is ready.
  while (!(terminal().includes('Ready: ') && existsSync(readyFile))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the service did not start:\n${terminal()}`);
    }
    await sleep(POLL_MS);
  }
  return {
    demo: JSON.parse(await readFile(readyFile, 'utf8')) as Demo,
    folder,
    process: child,
    terminal,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const [code] = await exited;
      return code;
    },
  };
};
