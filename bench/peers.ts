import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'esbuild';
import { bareHandler } from './harness/bare-handler.ts';
import { startBenchProcesses } from './harness/processes.ts';
import { type Recording, ROOT, recordOperations } from './harness/recording.ts';
import { figure, interleave, median, option, ratio, report } from './harness/report.ts';
import { bundle, bundleBare, bundleDeployed, type Subject } from './harness/subjects.ts';

/**
 * `npm run bench:peers` compares the cold start of GET /v1/users with the same operation in other frameworks: they validate the query with
 * zod and make the same calls. Installs the frameworks of bench/peers on demand. Option: `--rounds <n>`.
 */
const rounds = Number(option('rounds') ?? 11);
const PEERS = {
  hono: 'Hono',
  middy: 'middy, Powertools logger and metrics',
  powertools: 'Powertools router and logger',
  express: 'Express 5, serverless-http',
  fastify: 'Fastify 5',
  nest: 'NestJS 12, serverless-http',
} as const;

const FOLDER = join(ROOT, 'bench', 'peers');

/** Lets a peer import the recorded calls, and its packages be CommonJS. */
const forPeers = (recordedCalls: string): Plugin => ({
  name: 'for-peers',
  setup({ initialOptions, onResolve }) {
    initialOptions.alias = { 'recorded-calls': recordedCalls };
    // CommonJS packages use `require`, which an ES module does not have.
    const require =
      "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);";
    initialOptions.banner = { js: require };
    // Optional parts of NestJS, which it requires only if they are used.
    const optional = /^(?:@nestjs\/(?:microservices|websockets)|class-(?:validator|transformer))/;
    onResolve({ filter: optional }, ({ path }) => ({ path, external: true }));
  },
});

execFileSync('npm', ['install', '--no-package-lock', '--no-audit', '--no-fund', '--silent'], {
  cwd: FOLDER,
  shell: process.platform === 'win32',
});
const processes = await startBenchProcesses();
try {
  const recording = (await recordOperations()).find(
    ({ operation }) => operation.title === 'GET /v1/users',
  ) as Recording;
  const recordedCalls = join(processes.folder, 'recorded-calls.mjs');
  await writeFile(recordedCalls, bareHandler(recording.first, recording.later));
  const bare = await bundleBare(processes.folder, recording);
  const titles = new Map<Subject, string>([
    [bare, 'bare handler'],
    [await bundleDeployed(processes.folder, recording), 'this project'],
  ]);
  for (const [peer, title] of Object.entries(PEERS)) {
    const source = join(FOLDER, `${peer}.mjs`);
    titles.set(await bundle(processes.folder, recording, source, [forPeers(recordedCalls)]), title);
  }
  // One round more: the first one warms the disk cache and is not counted.
  const runs = await interleave([...titles.keys()], rounds + 1, (subject) => processes.run(subject));
  const responseMs = (subject: Subject) =>
    median((runs.get(subject) ?? []).slice(1).map(({ respondedMs }) => respondedMs));
  report(
    'peers',
    `GET /v1/users: medians of ${rounds} new processes each, interleaved, with the same calls over TLS.`,
    [
      ['handler', 'KB', 'response ms', '× bare'],
      ...[...titles].map(([subject, title]) => [
        title,
        figure(subject.bytes / 1000),
        figure(responseMs(subject)),
        ratio(responseMs(subject), responseMs(bare)),
      ]),
    ],
  );
} finally {
  await processes.stop();
}
