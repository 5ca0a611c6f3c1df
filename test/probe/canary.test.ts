import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callsTo } from '#probe/call.ts';
import { probe, readKey } from '#probe/canary.ts';
import { expectationsFor, type Run, testPersonOf } from '#probe/expectations.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { isSandboxPhone } from '#shared/providers/sandbox.ts';
import { outcomeOfPerson, outcomeOfPhone } from '#shared/providers/test-identities.ts';
import { parseNationalId } from '#shared/values/national-id.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const JWK = { ...publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' };

/** Returns a token for a phone, signed by the published key. */
const tokenFor = (phone_number: string): string => {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const signed = `${encode({ alg: 'ES256', kid: 'k1' })}.${encode({ phone_number })}`;
  const key = { key: privateKey, dsaEncoding: 'ieee-p1363' } as const;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
};

const TOKEN = tokenFor('+989990000007');

/** Each response of a service that is up, by request; `[status, body]`. */
const UP: Readonly<Record<string, readonly [number, unknown?]>> = {
  'GET /.well-known/jwks.json': [200, { keys: [JWK] }],
  'GET /v1/users?page_size=1': [200, { data: [] }],
  'POST /v1/auth/otp/send': [202, { expires_in: 300 }],
  'POST /v1/auth/otp/verify': [200, { access_token: TOKEN }],
  'POST /v1/users': [201, { id: 'usr_1' }],
  'POST /v1/users/usr_1/checks': [200],
};

const KEY = `blk_test_${'a'.repeat(38)}`;

let server: Server;
let baseUrl: string;
let responses: typeof UP;
let requests: [string, IncomingMessage['headers']][];

beforeAll(async () => {
  server = createServer((request, response) => {
    const name = `${request.method} ${request.url}`;
    requests.push([name, request.headers]);
    const [status, body] = responses[name] ?? [404];
    const limits = { RateLimit: '"free";r=1;t=1', 'RateLimit-Policy': '"free";q=1;w=60' };
    response.writeHead(status, {
      'X-Request-Id': 'req-1',
      'Cache-Control': 'no-store',
      Location: '/elsewhere',
      ...limits,
    });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

beforeEach(() => {
  responses = UP;
  requests = [];
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const names = (): string[] => requests.map(([name]) => name);

const REAL = { apiKey: KEY, testPerson: undefined };
const SANDBOX = { apiKey: KEY, testPerson: testPersonOf(7) };

describe('the probe of a service that is up', () => {
  test('reads a page with the key and sends no code, in a stage with real providers', async () => {
    await probe({ addresses: [baseUrl], ...REAL });
    expect(names()).toEqual(['GET /.well-known/jwks.json', 'GET /v1/users?page_size=1']);
  });

  test('signs a test person in, links them, checks them again and removes nobody, in a sandbox', async () => {
    await probe({ addresses: [baseUrl], ...SANDBOX });
    expect(names()).toEqual([
      'GET /.well-known/jwks.json',
      'POST /v1/auth/otp/send',
      'POST /v1/auth/otp/verify',
      'GET /.well-known/jwks.json',
      'POST /v1/users',
      'POST /v1/users/usr_1/checks',
    ]);
  });

  test('calls every address: with a page where there are real providers, and the public keys in a sandbox', async () => {
    const addresses = [baseUrl, `${baseUrl}/other`];
    responses = {
      ...UP,
      'GET /other/.well-known/jwks.json': [200, { keys: [JWK] }],
      'GET /other/v1/users?page_size=1': [200, { data: [] }],
    };
    const atOther = async (options: typeof REAL | typeof SANDBOX) => {
      requests = [];
      await probe({ addresses, ...options });
      return names().filter((name) => name.includes('/other'));
    };
    expect(await atOther(SANDBOX)).toEqual(['GET /other/.well-known/jwks.json']);
    expect(await atOther(REAL)).toEqual([
      'GET /other/.well-known/jwks.json',
      'GET /other/v1/users?page_size=1',
    ]);
  });

  test('checks a person again whom an earlier run linked', async () => {
    responses = { ...UP, 'POST /v1/users': [200, { id: 'usr_1' }] };
    await probe({ addresses: [baseUrl], ...SANDBOX });
    expect(names().at(-1)).toBe('POST /v1/users/usr_1/checks');
  });

  test('sends the key to the operations that require one only', async () => {
    await probe({ addresses: [baseUrl], ...SANDBOX });
    const keys = requests.map(([name, headers]) => [name.includes('/v1/'), headers['x-api-key']]);
    expect(new Set(keys.map(String))).toEqual(new Set(['false,', `true,${KEY}`]));
  });
});

describe('the probe fails', () => {
  const failing: readonly (readonly [string, readonly [number, unknown?], RegExp])[] = [
    ...Object.keys(UP).map(
      (name) => [name, [503, { code: 'x' }], /got status 503, request id req-1/] as const,
    ),
    ...Object.keys(UP).map((name) => [name, [307], /got status 307/] as const),
    ['GET /.well-known/jwks.json', [200, { keys: [] }], /no ES256 key/],
    ['GET /.well-known/jwks.json', [200, '<html>'], /no ES256 key/],
    ['GET /v1/users?page_size=1', [200, {}], /no list "data"/],
    ['POST /v1/auth/otp/verify', [200, { access_token: tokenFor('+989990000008') }], /another phone/],
    ['POST /v1/auth/otp/verify', [200, { access_token: `${TOKEN.slice(0, -8)}AAAAAAAA` }], /not valid/],
    ['POST /v1/users', [201, {}], /no id/],
  ];

  test('with the title of the expectation, if a response is an error, a redirect or has a wrong body', async () => {
    for (const [name, response, reason] of failing) {
      responses = { ...UP, [name]: response };
      const both = async () => {
        await probe({ addresses: [baseUrl], ...REAL });
        await probe({ addresses: [baseUrl], ...SANDBOX });
      };
      const message = await both().catch((error: Error) => error.message);
      expect([name, message]).toEqual([name, expect.stringMatching(reason)]);
      expect(message).toMatch(/^(?:GET|POST) .+: /);
    }
  });

  test('and names the address, if one of two does not respond', async () => {
    const run = probe({ addresses: [baseUrl, 'http://127.0.0.1:1'], ...SANDBOX });
    await expect(run).rejects.toThrow(
      /^GET \/\.well-known\/jwks\.json is 200 at http:\/\/127\.0\.0\.1:1: no response/,
    );
  });
});

test('a call without a response fails after 30 seconds, so that the smoke test ends', async () => {
  const { timeout } = AbortSignal;
  const times: number[] = [];
  AbortSignal.timeout = (ms) => {
    times.push(ms);
    return AbortSignal.abort(new DOMException('', 'TimeoutError'));
  };
  const call = callsTo(baseUrl, new AbortController().signal)('/docs');
  AbortSignal.timeout = timeout;
  await expect(call).rejects.toThrow('no response in time');
  expect(times).toEqual([30_000]);
});

test('a link that finds a user is what the canary expects, and a failure of the smoke test, whose person is new', async () => {
  const [link] = expectationsFor(['person']).filter(({ title }) => title === 'POST /v1/users is 201');
  const headers = new Headers({ 'x-request-id': 'req-1' });
  const linkWith = (mayBeLinked: boolean) =>
    link?.run({
      call: async () => ({ status: 200, headers, body: { id: 'usr_1' } }),
      keys: { shop: KEY, reader: KEY },
      person: testPersonOf(7),
      mayBeLinked,
      revoke: async () => {},
    });
  await expect(linkWith(true)).resolves.toBeUndefined();
  await expect(linkWith(false)).rejects.toThrow('expected status 201, got status 200');
});

test('a response without the headers that callers rely on is a failure', async () => {
  const run: Run = {
    call: async () => ({ status: 200, headers: new Headers(), body: {} }),
    keys: { shop: KEY, reader: KEY },
    person: testPersonOf(7),
    mayBeLinked: false,
    revoke: async () => {},
  };
  const byCanary = expectationsFor(['nothing', 'key']).filter((each) => each.byCanary);
  const faults = byCanary.map((each) => each.run(run).catch((error: Error) => error.message));
  expect(await Promise.all(faults)).toEqual([
    'headers are missing: x-request-id, cache-control',
    'headers are missing: x-request-id, ratelimit, ratelimit-policy, cache-control',
  ]);
});

describe('the expectations that require no key', () => {
  test('fail each for another body, though its status is right', async () => {
    const headers = new Headers({ 'x-request-id': 'req-1', 'cache-control': 'no-store' });
    const run: Run = {
      call: async () => ({ status: 200, headers, body: {} }),
      keys: { shop: KEY, reader: KEY },
      person: testPersonOf(7),
      mayBeLinked: false,
      revoke: async () => {},
    };
    const successes = expectationsFor(['nothing']).filter(({ expects }) => expects === 200);
    const faults = await Promise.all(
      successes.map((each) =>
        each.run(run).then(
          () => 'none',
          (error: Error) => error.message,
        ),
      ),
    );
    expect(faults).toEqual([
      'the body has no ES256 key',
      'jwks_uri is undefined',
      'the document has no path /v1/users',
      'the Content-Type is null',
    ]);
  });
});

describe('the test people of the canary', () => {
  const people = Array.from({ length: 1000 }, (_, serial) => testPersonOf(serial));
  const phones = people.map(({ phone }) => `+98${phone.slice(1)}`);

  test('are 1,000 people with a phone and a valid national id of their own', () => {
    expect(new Set(phones).size).toBe(1000);
    expect(new Set(people.map(({ national_id }) => parseNationalId(national_id))).size).toBe(1000);
  });

  test('have no outcome of their own in the sandbox, which accepts their phones', () => {
    expect(people.filter(({ national_id }) => outcomeOfPerson(national_id) !== undefined)).toEqual([]);
    expect(phones.filter((phone) => !isSandboxPhone(phone) || outcomeOfPhone(phone))).toEqual([]);
  });

  test('get the code that the canary verifies: the last six digits of the phone', () => {
    expect(phones.filter((phone) => sandboxCode(phone) !== phone.slice(-6))).toEqual([]);
  });
});

describe('the key', () => {
  const failing = (name: string) => ({
    read: () => Promise.reject(Object.assign(new Error('no'), { name })),
  });

  test('is read without the line break that a file ends with', async () => {
    expect(await readKey({ read: async () => `${KEY}\n` })).toBe(KEY);
  });

  test('fails the run if nobody has stored it', async () => {
    const reading = readKey(failing('ResourceNotFoundException'));
    await expect(reading).rejects.toThrow(/^the secret of the canary holds no API key$/);
  });

  test('fails the run if the secret cannot be read', async () => {
    await expect(readKey(failing('AccessDeniedException'))).rejects.toThrow(/^no$/);
  });

  test('fails the run, without the value, if the secret holds something else', async () => {
    const reading = readKey({ read: async () => `{"key":"${KEY}"}` });
    await expect(reading).rejects.toThrow(/^the secret of the canary holds no API key$/);
  });
});
