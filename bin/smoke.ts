import './require-node.mjs';
import { randomInt } from 'node:crypto';
import type { Administration } from '#admin/administration.ts';
import type { Connection } from '#admin/cli/connection.ts';
import { failureOf, UsageError } from '#admin/cli/errors.ts';
import { escapedLines } from '#admin/cli/escaped.ts';
import { abortOnInterrupt } from '#admin/cli/interrupt.ts';
import { eraseBuyer } from '#admin/operations/buyers.ts';
import { revokeKey } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { createSeller } from '#admin/operations/sellers.ts';
import { callsTo, ExpectationFailed, type Reply } from '#probe/call.ts';
import {
  expectationsFor,
  type KeyName,
  type Need,
  type Run,
  TEST_PEOPLE,
  testPersonOf,
} from '#probe/expectations.ts';
import { isEncryptedOrLocal } from '#shared/providers/provider.ts';
import type { Scope } from '#shared/scopes.ts';
import { commandLine } from './command-line.ts';
import { deployments } from './deployments.ts';

const USAGE = `Usage: npm run smoke -- [options]

Calls a running service and prints one line for each request and what it must
get. Issues keys of its own, which it revokes at the end, also after a failure
or Ctrl-C. Uses test people only: a stage without the sandbox, such as prod,
gets no requests that need a person.

  --stage <name>     a stage in AWS, with your AWS credentials
  --local            the local service of npm start
  --data <folder>    the data folder of the local service (default: .local)
  --url <url>        the address of the service; alone, without keys and
                     credentials
  --profile <name>   the AWS profile
  --region <name>    the AWS Region
  --steps            print each call: method, path, status and a field or two
  --emulator         the stage is on an emulator without gateway responses and
                     authorizer flush: leaves out the requests that need them

Exit codes: 0 every one passed; 1 one failed, or the service cannot be reached;
2 wrong command line.`;

/** The seller of the keys. It stays, without keys, and is used again. */
const SELLER_NAME = 'Smoke test';

/** A key that could not be revoked, because this process was killed, expires by itself. */
const LIFETIME_SECONDS = 3600;

/** The longest build of the documentation site, on a busy machine. */
const SITE_BUILD_MS = 180_000;

const SCOPES: Readonly<Record<KeyName, readonly Scope[]>> = {
  shop: ['users:read', 'users:write'],
  reader: ['users:read'],
};

/** The fields that a step shows, the first two of them that the response has. */
const SHOWN_FIELDS = [
  'code',
  'id',
  'display_name',
  'total',
  'token_type',
  'expires_in',
  'resend_after',
  'issuer',
];

/** Fits the longest title, and a terminal of 80 columns. */
const TITLE_WIDTH = 62;

const { values } = commandLine(USAGE, {
  options: {
    stage: { type: 'string' },
    local: { type: 'boolean' },
    data: { type: 'string' },
    url: { type: 'string' },
    profile: { type: 'string' },
    region: { type: 'string' },
    steps: { type: 'boolean' },
    emulator: { type: 'boolean' },
  },
});
const { signal, restore } = abortOnInterrupt();
const counts = { passed: 0, failed: 0, skipped: 0 };
const steps: string[] = [];

const addStep = (request: string, { status, body }: Reply): void => {
  const fields = SHOWN_FIELDS.filter((name) => body?.[name] !== undefined).slice(0, 2);
  if (values.steps)
    steps.push([`${request} -> ${status}`, ...fields.map((name) => `${name}: ${body[name]}`)].join('  '));
};

/** Prints the result of an expectation, and below it its calls and what failed. */
const printResult = (mark: keyof typeof counts, title: string, result: string, error?: unknown): void => {
  counts[mark] += 1;
  const sign = { passed: 'ok', failed: 'FAIL', skipped: 'skip' }[mark];
  console.log(`${sign.padEnd(5)} ${title.padEnd(TITLE_WIDTH)}${result.padStart(10)}`.trimEnd());
  for (const step of steps.splice(0)) console.log(`      ${step}`);
  if (error)
    console.log(`      ${error instanceof ExpectationFailed ? error.message : failureOf(error).message}`);
};

const runExpectations = async (run: Run, needs: readonly Need[]): Promise<void> => {
  for (const expectation of expectationsFor(needs)) {
    if (signal.aborted) return;
    const beganAtMs = performance.now();
    try {
      if (values.emulator && expectation.needsGateway) printResult('skipped', expectation.title, '');
      else {
        await expectation.run(run);
        printResult('passed', expectation.title, `${Math.round(performance.now() - beganAtMs)} ms`);
      }
    } catch (error) {
      if (!signal.aborted) printResult('failed', expectation.title, '', error);
    }
  }
};

const testSeller = async (admin: Administration): Promise<string> => {
  const sellers = await admin.sellers.list();
  const own = sellers.find(({ name, status }) => name === SELLER_NAME && status === 'active');
  return (own ?? (await createSeller(admin, SELLER_NAME))).seller_id;
};

/** Makes the requests with keys, and with a person where the stage has test people. Leaves no valid key and no person. */
const runWithKeys = async (run: Run, { admin, isSandbox, hashes }: Connection): Promise<void> => {
  const issued = new Map<KeyName, string>();
  const keys: Partial<Record<KeyName, string>> = {};
  try {
    const sellerId = await testSeller(admin);
    const expiresAt = Math.floor(admin.clock() / 1000) + LIFETIME_SECONDS;
    for (const name of ['shop', 'reader'] as const) {
      if (signal.aborted) return;
      const options = { sellerId, name: `smoke test ${name}`, plan: 'free', expiresAt } as const;
      const { key, secret } = await issueKey(admin, { ...options, scopes: SCOPES[name] });
      issued.set(name, key.key_id);
      keys[name] = secret;
    }
    const revoke = async (): Promise<void> => void (await revokeKey(admin, issued.get('shop') ?? ''));
    const needs = ['key', ...(isSandbox ? (['person'] as const) : []), 'revocation'] as const;
    await runExpectations({ ...run, keys: keys as Run['keys'], revoke }, needs);
  } finally {
    if (isSandbox) {
      await hashes
        .phone(`+98${run.person.phone.slice(1)}`)
        .then((phone) => eraseBuyer(admin, phone))
        .catch((error: unknown) => printResult('failed', 'the test person is erased', '', error));
    }
    for (const id of issued.values()) {
      await revokeKey(admin, id).catch(() =>
        printResult(
          'failed',
          'the keys are revoked',
          '',
          new ExpectationFailed(`still valid, for an hour at most: ${id}`),
        ),
      );
    }
  }
};

/** An emulator has no authorizer flush, so nothing waits for one there. */
const withoutFlush = ({ admin, ...connection }: Connection): Connection => ({
  ...connection,
  admin: { ...admin, authorizerCache: { flush: async () => {} } },
});

/** In a fresh clone the service builds the documentation site when it is ready, which takes longer than a call may. Whether it is there, its expectation says. */
const waitForSite = (baseUrl: string): Promise<unknown> =>
  fetch(`${baseUrl}/docs`, { signal: AbortSignal.any([signal, AbortSignal.timeout(SITE_BUILD_MS)]) }).catch(
    () => {},
  );

const smokeTest = async (): Promise<void> => {
  const { url, stage, local = false, emulator = false } = values;
  const hasKeys = stage !== undefined || local;
  if (url === undefined && !hasKeys) {
    throw new UsageError('Name a deployment: --stage dev, --local or --url https://…');
  }
  if (url !== undefined && !isEncryptedOrLocal(url)) {
    throw new UsageError('--url must be https, or http on loopback.');
  }
  const connection = hasKeys ? await deployments.connect(values) : undefined;
  const baseUrl = (url ?? connection?.baseUrl ?? '').replace(/\/+$/, '');
  console.log(`Smoke test of ${baseUrl}`);
  if (local) await waitForSite(baseUrl);
  const run: Run = {
    call: callsTo(baseUrl, signal, addStep),
    keys: { shop: '', reader: '' },
    person: testPersonOf(randomInt(TEST_PEOPLE)),
    mayBeLinked: false,
    revoke: async () => {},
  };
  const beganAtMs = performance.now();
  await runExpectations(run, ['nothing']);
  if (connection) await runWithKeys(run, emulator ? withoutFlush(connection) : connection);
  const { passed, failed, skipped } = counts;
  const ending = signal.aborted
    ? 'interrupted'
    : `in ${Math.round((performance.now() - beganAtMs) / 1000)} s`;
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped, ${ending}.`);
  process.exitCode = failed === 0 && !signal.aborted ? 0 : 1;
};

try {
  await smokeTest();
} catch (error) {
  const { message } = error instanceof UsageError ? error : failureOf(error);
  console.error(`error: ${escapedLines(message)}`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
} finally {
  restore();
}
