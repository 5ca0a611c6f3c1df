import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { bareHandler } from './harness/bare-handler.ts';
import { type Subject, startBenchProcesses } from './harness/processes.ts';
import { type Recording, ROOT, recordOperations } from './harness/recording.ts';
import { figure, interleave, median, option, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:peers` compares the cold start of GET /v1/users with the same operation in other frameworks: they validate the query with
 * zod and make the same calls. Installs the frameworks of bench/peers on demand. Option: `--rounds <n>`.
 */
const ROUNDS = option('rounds', 11);
const PEERS = {
  hono: 'Hono',
  middy: 'middy, Powertools logger and metrics',
  powertools: 'Powertools router and logger',
  express: 'Express 5, serverless-http',
  fastify: 'Fastify 5',
  nest: 'NestJS 12, serverless-http',
} as const;

const FOLDER = join(ROOT, 'bench', 'peers');
const CALLS = 'recorded-calls.mjs';

/** Optional parts of NestJS, which it requires only if they are used. */
const optionalParts: Plugin = {
  name: 'optional-parts',
  setup({ onResolve }) {
    onResolve(
      { filter: /^(?:@nestjs\/(?:microservices|websockets)|class-(?:validator|transformer))/ },
      ({ path }) => ({
        path,
        external: true,
      }),
    );
  },
};

/** Bundles a peer in the usual way, with the module that makes the recorded calls. */
const bundle = async (peer: string, folder: string, recording: Recording): Promise<Subject> => {
  const file = join(folder, `${peer}.mjs`);
  const { metafile } = await build({
    entryPoints: [join(FOLDER, `${peer}.mjs`)],
    outfile: file,
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    mainFields: ['module', 'main'],
    alias: { 'recorded-calls': join(folder, CALLS) },
    // CommonJS packages use `require`, which an ES module does not have.
    banner: {
      js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
    },
    plugins: [optionalParts],
    metafile: true,
    logLevel: 'error',
  });
  const [{ bytes = 0 } = {}] = Object.values(metafile.outputs);
  return { recording, file, mapFile: '', bytes };
};

execFileSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund', '--silent'], {
  cwd: FOLDER,
  shell: process.platform === 'win32',
});
const processes = await startBenchProcesses();
try {
  const recordings = (await recordOperations()).filter(
    ({ operation }) => operation.title === 'GET /v1/users',
  );
  const [recording] = recordings as [Recording];
  await writeFile(join(processes.folder, CALLS), bareHandler(recording.first, recording.later));
  const [bare, ours] = await Promise.all([processes.bare(recordings), processes.deployed(recordings)]);
  const subjects = new Map<string, Subject>([
    ['bare handler', bare[0] as Subject],
    ['this project', ours[0] as Subject],
  ]);
  for (const [peer, title] of Object.entries(PEERS)) {
    subjects.set(title, await bundle(peer, processes.folder, recording));
  }
  const timed = [...subjects].map(([title, subject]) => ({ title, subject, times: [] as number[] }));
  // The first round warms the disk cache and is not counted.
  for (const { subject } of timed) await processes.run(subject);
  await interleave(timed, ROUNDS, async ({ subject, times }) => {
    times.push((await processes.run(subject)).cold.respondedMs);
  });
  const bareMs = median(timed[0]?.times ?? []);
  report(
    'peers',
    `GET /v1/users: medians of ${ROUNDS} new processes each, interleaved, with the same calls over TLS.`,
    [
      ['handler', 'KB', 'response ms', '× bare'],
      ...timed.map(({ title, subject, times }) => [
        title,
        figure(subject.bytes / 1000),
        figure(median(times)),
        ratio(median(times), bareMs),
      ]),
    ],
  );
} finally {
  await processes.stop();
}
