import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT, VARIABLES } from './recording.ts';
import { startReplay } from './replay.ts';
import type { Subject } from './subjects.ts';

/** What a new process measures up to its first response. Times in milliseconds since it started. */
interface ColdStart {
  readonly loadedMs: number;
  readonly respondedMs: number;
  readonly cpuMs: number;
}

/** What a process measures of its later requests: their times, and the CPU time of one. */
interface Warm {
  readonly timesMs: readonly number[];
  readonly cpuMs: number;
}

/** The measurements of a new process. */
export interface Run extends ColdStart {
  /** The TLS connections to AWS and the providers up to the first response. */
  readonly connections: number;
  readonly warm: Warm;
}

interface RunOptions {
  /** The later requests to measure; as many precede them. */
  readonly warmRequests?: number;
  /** A cgroup with a CPU quota, which the process enters after its initialization, as on Lambda. */
  readonly cpuGroup?: string | undefined;
  /** Options of Node, such as --cpu-prof. */
  readonly nodeOptions?: readonly string[];
}

/** The program of a new process: loads the bundle, makes the first request and, when it is told to, the later ones. */
const PROGRAM = `
import { writeFileSync } from 'node:fs';
const { file, first, later, warmRequests, cpuGroup } = JSON.parse(process.env.BENCH_RUN);
const { handler } = await import(file);
const loadedMs = performance.now();
const call = async (event) => {
  const result = await handler(structuredClone(event), { getRemainingTimeInMillis: () => 20000 });
  if ((result.statusCode ?? 200) >= 300) throw new Error(result.body);
};
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};
if (cpuGroup) writeFileSync(cpuGroup + '/cgroup.procs', String(process.pid));
await call(first);
const respondedMs = performance.now();
process.send({ loadedMs, respondedMs, cpuMs: cpuMs() });
process.once('message', async () => {
  const timesMs = [];
  for (let n = 0; n < warmRequests; n += 1) await call(later);
  const before = cpuMs();
  for (let n = 0; n < warmRequests; n += 1) {
    const startedAt = performance.now();
    await call(later);
    timesMs.push(performance.now() - startedAt);
  }
  process.send({ timesMs, cpuMs: (cpuMs() - before) / warmRequests }, () => process.exit());
});`;

/** Starts what the processes of a benchmark share: a folder for bundles, and a server that replays recorded calls over TLS. */
export const startBenchProcesses = async () => {
  // In the project, so that the source of a bare handler finds the SDK.
  await mkdir(join(ROOT, '.build'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.build', 'bench-'));
  const server = await startReplay();
  const certFile = join(folder, 'cert.pem');
  await writeFile(certFile, server.cert);
  const environment = {
    ...VARIABLES,
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    AWS_ENDPOINT_URL: server.url,
    NODE_EXTRA_CA_CERTS: certFile,
    // Hides the AWS profiles of this machine: Lambda has none.
    HOME: folder,
  };
  return {
    /** Removed by `stop`. */
    folder,

    /** Runs a subject in a new process. */
    async run(subject: Subject, options: RunOptions = {}): Promise<Run> {
      const { first, later, recorderUrl } = subject.recording;
      server.replay(first.calls, recorderUrl);
      const { child, message, ended } = startProcess(subject, options, environment);
      const cold = await message<ColdStart>();
      const connections = server.connections();
      server.replay(later.calls, recorderUrl);
      child.send('continue');
      const warm = await message<Warm>();
      await ended.catch(() => {});
      return { ...cold, connections, warm };
    },

    async stop(): Promise<void> {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Starts the program of a subject. `message` returns its next measurement, and rejects if the process ends before. */
const startProcess = (
  { recording: { operation, first, later }, file }: Subject,
  { warmRequests = 0, cpuGroup, nodeOptions = [] }: RunOptions,
  environment: NodeJS.ProcessEnv,
) => {
  const settings = { file, first: first.event, later: later.event, warmRequests, cpuGroup };
  const child = spawn(process.execPath, [...nodeOptions, '--input-type=module', '-e', PROGRAM], {
    env: { ...environment, BENCH_RUN: JSON.stringify(settings) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`${operation.title} ended with exit code ${code}`);
  });
  const message = async <T>(): Promise<T> => (await Promise.race([once(child, 'message'), ended]))[0];
  return { child, message, ended };
};
