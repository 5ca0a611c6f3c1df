import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bundleFunctions } from '#lib/bundling.ts';
import { bareHandler } from './harness/bare-handler.ts';
import { type Recording, ROOT, recordOperations, VARIABLES } from './harness/recording.ts';
import { startReplay } from './harness/replay.ts';
import { figure, interleave, median, option, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:cold-start` compares the time from the start of a new process to its first response with that of a bare handler that
 * makes the same calls, for every operation. Options: `--rounds <n>`, `--only <part of an operation>`.
 */
const rounds = Number(option('rounds') ?? 11);
const only = option('only') ?? '';

/** A bundle and the calls that are replayed to it. */
interface Subject {
  readonly recording: Recording;
  readonly file: string;
  readonly bytes: number;
}

/** Removed at the end. In the project, so that the source of a bare handler finds the SDK. */
await mkdir(join(ROOT, '.build'), { recursive: true });
const folder = await mkdtemp(join(ROOT, '.build', 'bench-'));
const server = await startReplay();

/** Bundles a source as it is deployed; `isBare`: as a project without our plugins would. */
const bundle = async (recording: Recording, source: string, isBare: boolean): Promise<Subject> => {
  const outDir = await mkdtemp(join(folder, 'bundle-'));
  const { name } = recording.operation;
  const { folderOf } = await bundleFunctions({
    outDir,
    entries: { [name]: source },
    ...(isBare && { plugins: [] }),
  });
  const file = join(folderOf(name), 'index.mjs');
  return { recording, file, bytes: (await stat(file)).size };
};

/** Bundles the function of a recording, and the bare handler that it is compared with. */
const pairOf = async (recording: Recording, index: number) => {
  const bareSource = join(folder, `bare-${index}.mjs`);
  await writeFile(bareSource, bareHandler(recording.first));
  return {
    title: recording.operation.title,
    own: await bundle(recording, join(ROOT, 'functions', `${recording.operation.name}.ts`), false),
    bare: await bundle(recording, bareSource, true),
  };
};

/** The program of a new process: loads the bundle, makes the first request and prints the time after the log of the function. */
const PROGRAM = `
const [file, event] = process.argv.slice(1);
const { handler } = await import(file);
const result = await handler(JSON.parse(event), { getRemainingTimeInMillis: () => 20000 });
const respondedMs = performance.now();
if ((result.statusCode ?? 200) >= 300) throw new Error(result.body);
process.stdout.write('\\n' + respondedMs, () => process.exit());`;

const ENVIRONMENT = {
  ...VARIABLES,
  AWS_LAMBDA_FUNCTION_NAME: 'bench',
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'bench',
  AWS_SECRET_ACCESS_KEY: 'bench',
  AWS_ENDPOINT_URL: server.url,
  NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem'),
  // Hides the AWS profiles of this machine: Lambda has none.
  HOME: folder,
};

/** Returns the milliseconds from the start of a new process to its first response. Rejects if that is an error. */
const run = async ({ file, recording: { first, recorderUrl } }: Subject): Promise<number> => {
  server.replay(first.calls, recorderUrl);
  const args = ['--input-type=module', '-e', PROGRAM, file, JSON.stringify(first.event)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: ENVIRONMENT });
  return Number(stdout.split('\n').at(-1));
};

try {
  await writeFile(ENVIRONMENT.NODE_EXTRA_CA_CERTS, server.cert);
  const recordings = (await recordOperations()).filter(({ operation }) => operation.title.includes(only));
  const pairs = await Promise.all(recordings.map(pairOf));
  // One round more: the first one warms the disk cache and is not counted.
  const runs = await interleave(
    pairs.flatMap(({ own, bare }) => [own, bare]),
    rounds + 1,
    run,
  );
  const medianOf = (subject: Subject): number => median((runs.get(subject) ?? []).slice(1));
  report(
    'cold-start',
    `Medians of ${rounds} new processes each, in turns, Node ${process.versions.node}, TLS.`,
    [
      ['operation', 'KB', 'response ms', 'bare ms', '× bare'],
      ...pairs.map(({ title, own, bare }) => [
        title,
        ...[own.bytes / 1000, medianOf(own), medianOf(bare)].map((value) => figure(value)),
        ratio(medianOf(own), medianOf(bare)),
      ]),
    ],
  );
} finally {
  await server.close();
  await rm(folder, { recursive: true, force: true });
}
