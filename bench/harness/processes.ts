import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Plugin } from 'esbuild';
import selfsigned from 'selfsigned';
import { bundleFunctions } from '#lib/bundling.ts';
import { bareHandler } from './bare-handler.ts';
import { type Recording, ROOT, VARIABLES } from './recording.ts';
import { startReplay } from './replay.ts';

/** A bundle and the calls that are replayed to it. */
export interface Subject {
  readonly recording: Recording;
  readonly file: string;
  readonly mapFile: string;
  readonly bytes: number;
}

/** The measurement of a new process. Times in milliseconds since the process started. */
export interface ColdStart {
  readonly loadedMs: number;
  readonly respondedMs: number;
  /** CPU time up to the response. */
  readonly cpuMs: number;
  /** The TLS connections to AWS and the providers. */
  readonly connections: number;
}

/** The measurement of later requests. */
export interface Warm {
  readonly timesMs: readonly number[];
  /** CPU time of one request. */
  readonly cpuMs: number;
}

export interface RunOptions {
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
if (cpuGroup) writeFileSync(cpuGroup + '/cgroup.procs', String(process.pid));
await call(first);
const respondedMs = performance.now();
const used = process.cpuUsage();
process.send({ loadedMs, respondedMs, cpuMs: (used.user + used.system) / 1000 });
process.once('message', async () => {
  const timesMs = [];
  for (let n = 0; n < warmRequests; n += 1) await call(later);
  const before = process.cpuUsage();
  for (let n = 0; n < warmRequests; n += 1) {
    const startedAt = performance.now();
    await call(later);
    timesMs.push(performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(before);
  process.send({ timesMs, cpuMs: (user + system) / 1000 / warmRequests }, () => process.exit());
});`;

/** Starts what the processes of a benchmark share: a folder for bundles, and a server that replays recorded calls over TLS. */
export const startBenchProcesses = async () => {
  // In the project, so that the source of a bare handler finds the SDK.
  await mkdir(join(ROOT, '.build'), { recursive: true });
  const folder = await mkdtemp(join(ROOT, '.build', 'bench-'));
  const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: 'bench' }], {
    days: 1,
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const certFile = join(folder, 'cert.pem');
  await writeFile(certFile, cert);
  const server = await startReplay({ cert, key });
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

  const bundle = async (
    outDir: string,
    entries: Readonly<Record<string, string>>,
    plugins?: readonly Plugin[],
  ) => {
    const { folderOf, sizes } = await bundleFunctions({
      outDir: join(folder, outDir),
      entries,
      ...(plugins ? { plugins } : {}),
    });
    return (name: string) => ({
      file: join(folderOf(name), 'index.mjs'),
      mapFile: join(folder, outDir, 'maps', `${name}.mjs.map`),
      bytes: sizes[name] ?? 0,
    });
  };

  return {
    /** Removed by `stop`. */
    folder,

    /** Bundles the functions of a checkout as they are deployed. */
    async deployed(recordings: readonly Recording[], root = ROOT): Promise<Subject[]> {
      const sources = recordings.map(({ operation: { name } }) => [
        name,
        join(root, 'functions', `${name}.ts`),
      ]);
      const bundleOf = await bundle(`deployed-${basename(root)}`, Object.fromEntries(sources));
      return recordings.map((recording) => ({ recording, ...bundleOf(recording.operation.name) }));
    },

    /** Bundles the bare handlers as a project without our plugins would. */
    async bare(recordings: readonly Recording[]): Promise<Subject[]> {
      const sources = recordings.map(({ first, later }, index) => ({
        file: join(folder, `bare-${index}.mjs`),
        text: bareHandler(first, later),
      }));
      await Promise.all(sources.map(({ file, text }) => writeFile(file, text)));
      const entries = Object.fromEntries(sources.map(({ file }, index) => [`bare-${index}`, file]));
      const bundleOf = await bundle('bare', entries, []);
      return recordings.map((recording, index) => ({ recording, ...bundleOf(`bare-${index}`) }));
    },

    /** Runs a subject in a new process. */
    async run(
      { recording, file }: Subject,
      { warmRequests = 0, cpuGroup, nodeOptions = [] }: RunOptions = {},
    ) {
      const { first, later, recorderUrl } = recording;
      const settings = { file, first: first.event, later: later.event, warmRequests, cpuGroup };
      server.replay(first.calls, recorderUrl);
      const child = spawn(process.execPath, [...nodeOptions, '--input-type=module', '-e', PROGRAM], {
        env: { ...environment, BENCH_RUN: JSON.stringify(settings) },
        stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      });
      const exited = once(child, 'exit').then(([code]) => {
        throw new Error(`${recording.operation.title} ended with exit code ${code}`);
      });
      exited.catch(() => {});
      const message = async <T>(): Promise<T> => (await Promise.race([once(child, 'message'), exited]))[0];
      const cold: ColdStart = {
        ...(await message<Omit<ColdStart, 'connections'>>()),
        connections: server.connections(),
      };
      if (warmRequests === 0) {
        child.kill();
        await exited.catch(() => {});
        return { cold };
      }
      server.replay(later.calls, recorderUrl);
      child.send('continue');
      const warm = await message<Warm>();
      await exited.catch(() => {});
      return { cold, warm };
    },

    async stop(): Promise<void> {
      await server.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
};
