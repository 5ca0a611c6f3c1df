import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Plugin } from 'esbuild';
import selfsigned from 'selfsigned';
import { COLD_START_LEVERS, TRIMMINGS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { startTable } from './cold-start-table.ts';

/**
 * `npm run bench:cold-start [rounds]` measures the time from the start of a new process to its first response to GET /v1/users.
 * It compares the deployed bundle with a bare handler that makes the same calls. The subjects take turns, so that other load on the machine
 * affects all of them alike.
 */

const runs = promisify(execFile);
const ROUNDS = Number(process.argv[2] ?? 25);
const OURS = fileURLToPath(new URL('../functions/list-users.ts', import.meta.url));
const FLOOR = fileURLToPath(new URL('cold-start-floor.ts', import.meta.url));

/** The subjects: a name, the source file, and the plugins that reduce its bundle. */
const SUBJECTS: readonly (readonly [string, string, readonly Plugin[]])[] = [
  ['bare handler', FLOOR, []],
  ['bare handler again (noise)', FLOOR, []],
  ['ours as deployed', OURS, [...COLD_START_LEVERS, ...TRIMMINGS]],
  ['ours, levers only', OURS, COLD_START_LEVERS],
  ['ours, nothing taken out', OURS, []],
];

/** The event that API Gateway passes to the function. */
const EVENT = {
  httpMethod: 'GET',
  path: '/v1/users',
  headers: {},
  body: null,
  requestContext: {
    requestId: 'bench',
    authorizer: {
      sellerId: 'sel_bench',
      keyId: 'key_bench',
      plan: 'free',
      scopes: 'users:read',
      expiresAt: '',
    },
  },
};

const callOnce = (file: string): string => `
  const { handler } = await import(${JSON.stringify(file)});
  const { statusCode } = await handler(${JSON.stringify(EVENT)}, { getRemainingTimeInMillis: () => 10000 });
  process.exit(statusCode === 200 ? 0 : 1);`;

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number;

const bundleSubjects = (folder: string) =>
  Promise.all(
    SUBJECTS.map(async ([name, file, plugins], index) => {
      const outDir = join(folder, String(index));
      const bundles = await bundleFunctions({ outDir, entries: { subject: file }, plugins });
      return {
        name,
        file: join(bundles.folderOf('subject'), 'index.mjs'),
        bytes: bundles.sizes.subject ?? 0,
      };
    }),
  );

const measure = async (folder: string, endpoint: string, cert: string) => {
  const certFile = join(folder, 'cert.pem');
  await writeFile(certFile, cert);
  const env = {
    AWS_LAMBDA_FUNCTION_NAME: 'bench',
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'bench',
    AWS_SECRET_ACCESS_KEY: 'bench',
    TABLE_NAME: 'bench',
    DYNAMODB_ENDPOINT: endpoint,
    NODE_EXTRA_CA_CERTS: certFile,
    // Hides the AWS profiles of this machine: Lambda has none.
    HOME: folder,
  };
  const subjects = (await bundleSubjects(folder)).map((subject) => ({ ...subject, times: [] as number[] }));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { file, times } of subjects) {
      const start = performance.now();
      await runs(process.execPath, ['--input-type=module', '-e', callOnce(file)], { env });
      // The first round warms the disk cache and is not measured.
      if (round >= 0) times.push(performance.now() - start);
    }
  }
  return subjects;
};

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: 'bench' }], {
  days: 1,
  keySize: 2048,
  algorithm: 'sha256',
  extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
});
const table = await startTable({ cert, key });
try {
  const subjects = await measure(folder, table.endpoint, cert);
  const floor = median(subjects[0]?.times ?? []);
  console.log(`GET /v1/users, ${ROUNDS} new processes each, Node ${process.versions.node}`);
  for (const { name, bytes, times } of subjects) {
    const ms = median(times);
    const size = `${Math.round(bytes / 1000)} KB`.padStart(7);
    console.log(
      `${name.padEnd(28)} ${size}  ${ms.toFixed(0).padStart(4)} ms  ${(ms / floor).toFixed(2)} × bare handler`,
    );
  }
} finally {
  await table.close();
  await rm(folder, { recursive: true, force: true });
}
