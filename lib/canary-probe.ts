/** The canary function: calls the service over the public URL, as a client does. An alarm counts the runs that fail. */
import { randomInt } from 'node:crypto';
import { logEvent } from '#shared/log.ts';
import { type SecretSource, secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { completeNationalId } from '#shared/values/national-id.ts';

/** The timeout of a run. It leaves the function time to read the key before. */
const TIMEOUT_MS = 15_000;

/**
 * The number of test people. A run takes one of them at random: then no phone reaches the limits of its sends in 24 hours, two runs
 * within 60 seconds hardly ever meet, and the table holds no more than 1,000 registrations of the canary.
 */
const TEST_PEOPLE = 1_000;

/** A fetch would put the text of any other header value into its error. */
const KEY = /^blk_(?:live|test)_[0-9A-Za-z]+$/;

interface Probe {
  readonly baseUrl: string;
  /** Undefined: only what requires no key is probed. */
  readonly apiKey: string | undefined;
  /** Undefined: the stage has real providers, so nobody signs in and nobody is linked. */
  readonly testPerson: TestPerson | undefined;
}

interface TestPerson {
  readonly national_id: string;
  readonly birth_date: string;
  readonly phone: string;
  readonly display_name: string;
}

interface Call {
  readonly method?: string;
  readonly body?: object;
}

/** Returns a person whom the sandbox accepts, by a number from 0 to 999. */
export const testPersonOf = (serial: number): TestPerson => {
  const digits = String(serial).padStart(3, '0');
  return {
    national_id: completeNationalId(`999700${digits}`),
    birth_date: '1370/1/15',
    phone: `09990000${digits}`,
    display_name: 'Canary',
  };
};

/** Returns a function that calls the service and throws unless the response is a success. */
const callerOf = (baseUrl: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) => {
  return async (path: string, { method = 'GET', body }: Call = {}): Promise<Response> => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { ...headers, 'Content-Type': 'application/json' },
      signal,
      // A redirect would take the key to another address.
      redirect: 'error',
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.ok) return response;
    const requestId = response.headers.get('X-Request-Id');
    throw new Error(`${method} ${path} returned ${response.status}, request id ${requestId}`);
  };
};

type Caller = ReturnType<typeof callerOf>;

/** Returns the body of a response. Throws unless it is a JSON object. */
const objectOf = async (response: Response): Promise<Readonly<Record<string, unknown>>> =>
  Object(await response.json());

const readPublicKeys = async (call: Caller): Promise<void> => {
  const { keys } = await objectOf(await call('/.well-known/jwks.json'));
  if (!Array.isArray(keys) || keys.length === 0) throw new Error('no public key is published');
};

const readPage = async (call: Caller): Promise<void> => {
  const { data } = await objectOf(await call('/v1/users?page_size=1'));
  if (!Array.isArray(data)) throw new Error('GET /v1/users returned no page');
};

/** Signs a test person in, links them and removes the link. A link that an earlier run left behind is found and removed. */
const signInAndLink = async (call: Caller, person: TestPerson): Promise<void> => {
  const { phone } = person;
  await call('/v1/auth/otp/send', { method: 'POST', body: { phone } });
  // The rule of the sandbox: docs/test-identities.md.
  const verified = await call('/v1/auth/otp/verify', {
    method: 'POST',
    body: { phone, code: phone.slice(-6) },
  });
  if (!(await objectOf(verified)).access_token) throw new Error('the verified code returned no token');
  const { id } = await objectOf(await call('/v1/users', { method: 'POST', body: person }));
  if (typeof id !== 'string') throw new Error('the link returned no user');
  await call(`/v1/users/${id}`, { method: 'DELETE' });
};

/** Probes the service once. Throws on a timeout, an error status or a wrong body. */
export const probe = async ({ baseUrl, apiKey, testPerson }: Probe): Promise<void> => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  await readPublicKeys(callerOf(baseUrl, {}, signal));
  if (apiKey === undefined) return;
  const call = callerOf(baseUrl, { 'X-Api-Key': apiKey }, signal);
  await (testPerson ? signInAndLink(call, testPerson) : readPage(call));
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
