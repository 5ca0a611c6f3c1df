import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { binaryPath } from '#local/database.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { runCommand } from '#test/admin/cli/in-process.ts';
import { freePort } from '#test/local/free-port.ts';
import { type RunningService, startRunningService } from '#test/service/running-service.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';
import { type FaultProxy, startFaultProxy } from './fault-proxy.ts';

const SHIFTED_CLOCK = new URL('./shifted-clock.mjs', import.meta.url).href;
const CLOCK_POLL_MS = 10;
const LISTENING = 'Dynoxide listening on';

/** A seller of the campaign with its professional keys. */
export interface CampaignSeller {
  readonly id: string;
  readonly keyId: string;
  /** Its first key. */
  readonly key: string;
  /** Returns its keys in turn, so that each counts the same share of the requests. */
  nextKey(): string;
}

/** The share of a plan's limit that a campaign may use of a key, so that requests which it repeats fit too. */
const USED_SHARE = 0.8;

/** The service, its database and the fault proxy between them, each a process or a server that can fail by itself. */
export interface Deployment {
  readonly proxy: FaultProxy;
  /** The providers of the service. */
  readonly simulators: Simulators;
  readonly folder: string;
  baseUrl(): string;
  terminal(): string;
  admin(...args: readonly string[]): Promise<string>;
  /**
   * Creates a seller with as many keys as `requests` need. The limit of a plan holds for a clock minute, and a fast machine makes all
   * requests within one.
   */
  newSeller(name: string, requests?: number): Promise<CampaignSeller>;
  /** Registers phones (E.164) in the buyer app by an import. */
  register(phones: readonly string[]): Promise<void>;
  /** Shifts the service's wall clock by this many seconds from the real time. */
  shiftClock(seconds: number): Promise<void>;
  /** Kills the service without notice and starts it again on the same data. */
  killService(): Promise<void>;
  /** Kills the database without notice and starts it again on its file; the service stays up. */
  killDatabase(): Promise<void>;
  /** Returns how often the database was killed. */
  databaseKills(): number;
  stop(): Promise<void>;
}

const startDatabase = async (file: string, port: number): Promise<ChildProcess> => {
  const child = spawn(
    binaryPath(),
    ['serve', '--host', '127.0.0.1', '--port', String(port), '--db-path', file],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  await new Promise<void>((resolve, reject) => {
    let written = '';
    child.once('exit', () => reject(new Error(`the database ended: ${written}`)));
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      written += chunk;
      if (written.includes(LISTENING)) resolve();
    });
  });
  return child;
};

/** Runs a command of the CLI in this process: a process for each would take a third of a CPU second. */
const runAdmin = async (folder: string, args: readonly string[]): Promise<string> => {
  const { exitCode, out, error } = await runCommand(['--data', folder, ...args]);
  if (exitCode !== 0) throw new Error(`admin ${args[0]} ${args[1]} ended with ${exitCode}: ${error}`);
  return out;
};

/** The field of that name anywhere in the JSON output of the CLI. */
const fieldOf = (json: string, name: string): string => {
  const match = new RegExp(`"${name}":\\s*"([^"]+)"`).exec(json);
  if (match === null) throw new Error(`the CLI's output has no ${name}`);
  return match[1] as string;
};

/** The key in the output of `keys issue`. */
export const keyIn = (output: string): string => {
  const [key] = /blk_test_[0-9A-Za-z]{38}/.exec(output) ?? [];
  if (key === undefined) throw new Error('the output of the CLI has no key');
  return key;
};

/** Starts a deployment in a folder of its own. */
export const startDeployment = async (): Promise<Deployment> => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-hardening-'));
  const port = await freePort();
  const file = join(folder, 'campaign.sqlite');
  let database = await startDatabase(file, port);
  let databaseKills = 0;
  const proxy = await startFaultProxy(`http://127.0.0.1:${port}`);
  const offsetFile = join(folder, 'clock-offset');
  await writeFile(offsetFile, '0');
  const environment = {
    DYNAMODB_ENDPOINT: proxy.endpoint,
    NODE_OPTIONS: `--import ${SHIFTED_CLOCK}`,
    CLOCK_OFFSET_FILE: offsetFile,
  };
  const simulators = await startSimulators();
  const start = (): Promise<RunningService> => startRunningService({ folder, environment, simulators });
  let service = await start();
  const admin = (...args: readonly string[]) => runAdmin(folder, args);
  const shiftClock = async (seconds: number): Promise<void> => {
    await writeFile(offsetFile, String(seconds));
    service.process.kill('SIGUSR2');
    while ((await readFile(`${offsetFile}.read`, 'utf8')) !== String(seconds)) await pause(CLOCK_POLL_MS);
  };

  return {
    proxy,
    simulators,
    folder,
    baseUrl: () => service.demo.base_url,
    terminal: () => service.terminal(),
    admin,
    async newSeller(name, requests = 1) {
      const id = fieldOf(await admin('sellers', 'create', name, '--json'), 'seller_id');
      const issue = () =>
        admin('keys', 'issue', id, '--plan', 'professional', '--scopes', 'users:read,users:write', '--json');
      const first = await issue();
      const keys = [keyIn(first)];
      const needed = Math.ceil(requests / (USED_SHARE * PLANS.professional.requestsPerMinute));
      while (keys.length < needed) keys.push(keyIn(await issue()));
      let uses = 0;
      return {
        id,
        keyId: fieldOf(first, 'key_id'),
        key: keyIn(first),
        nextKey: () => keys[uses++ % keys.length] as string,
      };
    },
    async register(phones) {
      const file = join(folder, 'phones.txt');
      await writeFile(file, phones.join('\n'));
      await admin('buyers', 'import', file);
    },
    shiftClock,
    async killService() {
      await service.stop('SIGKILL');
      service = await start();
    },
    databaseKills: () => databaseKills,
    async killDatabase() {
      databaseKills += 1;
      database.kill('SIGKILL');
      await once(database, 'exit');
      database = await startDatabase(file, port);
    },
    async stop() {
      await service.stop();
      await simulators.close();
      await proxy.stop();
      database.kill();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
