/** The canary function: makes requests over the public addresses, as a client does. An alarm counts the runs that fail. */
import { randomInt } from 'node:crypto';
import { type SecretSource, secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { callsTo } from './call.ts';
import { storedKey } from './canary-key.ts';
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

interface Probe {
  /** The base URL, where a person is signed in, and the other addresses. */
  readonly addresses: readonly string[];
  readonly apiKey: string;
  /** Undefined: the stage has real providers, so nobody signs in and nobody is linked. */
  readonly testPerson: TestPerson | undefined;
}

/** Returns what an address is probed for: a person is signed in at the base URL only, since a phone gets one code in 60 seconds. */
const needsOf = (isBaseUrl: boolean, { testPerson }: Probe): readonly Need[] => {
  if (testPerson === undefined) return ['nothing', 'key'];
  return isBaseUrl ? ['nothing', 'person'] : ['nothing'];
};

/** Probes each address once. Throws the first expectation that fails. The person of a run stays linked: the next link of the same person is found. */
export const probe = async (options: Probe): Promise<void> => {
  const { addresses, apiKey, testPerson = testPersonOf(0) } = options;
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  for (const [index, address] of addresses.entries()) {
    const run: Run = {
      call: callsTo(address, signal),
      keys: { shop: apiKey, reader: apiKey },
      person: testPerson,
      mayBeLinked: true,
      revoke: async () => {},
    };
    const expectations = expectationsFor(needsOf(index === 0, options)).filter(({ byCanary }) => byCanary);
    for (const { title, run: runExpectation } of expectations) {
      await runExpectation(run).catch((cause: Error) => {
        throw new Error(`${title} at ${address}: ${cause.message}`, { cause });
      });
    }
  }
};

/** Returns the key that an admin stored. Throws if none is stored. */
export const readKey = async (secret: SecretSource): Promise<string> => {
  const key = await storedKey(secret);
  if (key === undefined) throw new Error('the secret of the canary holds no API key');
  return key;
};

// shared/env.ts covers the functions of the service only.
const { ADDRESSES = '', KEY_SECRET = '', PROVIDERS } = process.env;
const keySecret = secretsManagerSecret(KEY_SECRET);

/** Runs on a schedule. */
export const handler = async (): Promise<void> =>
  probe({
    addresses: ADDRESSES.split(','),
    apiKey: await readKey(keySecret),
    testPerson: PROVIDERS === 'sandbox' ? testPersonOf(randomInt(TEST_PEOPLE)) : undefined,
  });
