/** The canary function: makes requests over the public URL, as a client does. An alarm counts the runs that fail. */
import { randomInt } from 'node:crypto';
import { logEvent } from '#shared/log.ts';
import { type SecretSource, secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { callsTo } from './call.ts';
import {
  expectationsFor,
  type Need,
  type Run,
  TEST_PEOPLE,
  type TestPerson,
  testPersonOf,
} from './expectations.ts';

/** The timeout of a run. It leaves the function time to read the key before. */
const TIMEOUT_MS = 15_000;

/** A fetch would put the text of any other header value into its error. */
const KEY = /^blk_(?:live|test)_[0-9A-Za-z]+$/;

interface Probe {
  readonly baseUrl: string;
  /** Undefined: only what requires no key is probed. */
  readonly apiKey: string | undefined;
  /** Undefined: the stage has real providers, so nobody signs in and nobody is linked. */
  readonly testPerson: TestPerson | undefined;
}

/** Probes the service once. Throws the first expectation that fails. A link that an earlier run left behind is found and removed. */
export const probe = async ({ baseUrl, apiKey = '', testPerson }: Probe): Promise<void> => {
  const needs: readonly Need[] = apiKey === '' ? ['nothing'] : ['nothing', testPerson ? 'person' : 'key'];
  const run: Run = {
    call: callsTo(baseUrl, AbortSignal.timeout(TIMEOUT_MS)),
    keys: { shop: apiKey, reader: apiKey },
    person: testPerson ?? testPersonOf(0),
    mayBeLinked: true,
    revoke: async () => {},
  };
  for (const { title, run: runExpectation } of expectationsFor(needs).filter(({ byCanary }) => byCanary)) {
    await runExpectation(run).catch((cause: Error) => {
      throw new Error(`${title}: ${cause.message}`, { cause });
    });
  }
};

/**
 * Returns the key that an admin stored, or undefined and a line in the log if none is stored. Throws if it is unreadable or no key.
 * Secrets Manager answers a read of an empty secret with ResourceNotFoundException (boto3 issue 2794).
 */
export const readKey = async (secret: SecretSource): Promise<string | undefined> => {
  try {
    const key = (await secret.read()).trim();
    if (!KEY.test(key)) throw new Error('the secret of the canary holds no API key');
    return key;
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ResourceNotFoundException') throw error;
    logEvent('canary_key_missing', {});
    return undefined;
  }
};

// shared/env.ts covers the functions of the service only.
const { BASE_URL = '', KEY_SECRET = '', PROVIDERS } = process.env;
const keySecret = secretsManagerSecret(KEY_SECRET);

/** Runs on a schedule. */
export const handler = async (): Promise<void> =>
  probe({
    baseUrl: BASE_URL,
    apiKey: await readKey(keySecret),
    testPerson: PROVIDERS === 'sandbox' ? testPersonOf(randomInt(TEST_PEOPLE)) : undefined,
  });
