import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Plugin } from 'esbuild';
import { COLD_START_LEVERS, TRIMMINGS } from '#lib/bundle-plugins.ts';
import { bundleFunctions } from '#lib/bundling.ts';
import { startTable } from './cold-start-table.ts';
import { selfSignedCertificate } from './self-signed.ts';

/**
 * `npm run bench:cold-start [rounds]`: from the start of a fresh process to the first answer of GET /v1/users, as it is deployed,
 * beside a bare handler that makes the same calls. Rounds are interleaved, so that what else the machine does hits all alike.
 */

const runs = promisify(execFile);
const ROUNDS = Number(process.argv[2] ?? 25);
const OURS = fileURLToPath(new URL('../functions/list-users.ts', import.meta.url));
const FLOOR = fileURLToPath(new URL('cold-start-floor.ts', import.meta.url));

/** What is compared: a name, the code, and what is taken out of its bundle. */
const SUBJECTS: readonly (readonly [string, string, readonly Plugin[]])[] = [
  ['bare handler (floor)', FLOOR, []],
  ['bare handler again (noise)', FLOOR, []],
  ['ours as deployed', OURS, [...COLD_START_LEVERS, ...TRIMMINGS]],
  ['ours, levers only', OURS, COLD_START_LEVERS],
  ['ours, nothing taken out', OURS, []],
];

/** A request as API Gateway hands it to the function. */
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
    // No profile of this machine may be looked for: Lambda has none.
    HOME: folder,
  };
  const subjects = (await bundleSubjects(folder)).map((subject) => ({ ...subject, times: [] as number[] }));
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const { file, times } of subjects) {
      const start = performance.now();
      await runs(process.execPath, ['--input-type=module', '-e', callOnce(file)], { env });
      // The first round only warms the disk's cache.
      if (round >= 0) times.push(performance.now() - start);
    }
  }
  return subjects;
};

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
const certificate = selfSignedCertificate();
const table = await startTable(certificate);
try {
  const subjects = await measure(folder, table.endpoint, certificate.cert);
  const floor = median(subjects[0]?.times ?? []);
  console.log(`GET /v1/users, ${ROUNDS} fresh processes each, Node ${process.versions.node}`);
  for (const { name, bytes, times } of subjects) {
    const ms = median(times);
    const size = `${Math.round(bytes / 1000)} KB`.padStart(7);
    console.log(
      `${name.padEnd(28)} ${size}  ${ms.toFixed(0).padStart(4)} ms  ${(ms / floor).toFixed(2)} × floor`,
    );
  }
} finally {
  await table.close();
  await rm(folder, { recursive: true, force: true });
}
