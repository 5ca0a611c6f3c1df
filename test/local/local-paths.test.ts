import { once } from 'node:events';
import {
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
  type ServerResponse,
} from 'node:http';
import { isLocalPath, localPaths } from '#local/local-paths.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import type { SentMessage, Simulators } from '#local/simulators/server.ts';
import { testNationalId } from '#shared/providers/test-identities.ts';

const SENT: SentMessage[] = [
  {
    phone: '+989550000001',
    code: '123456',
    sent_at: '2026-11-21T12:00:00.000Z',
    provider: 'kavenegar',
    template: 'sign-in-code',
    text: 'کد ورود: 123456',
  },
];

let server: LoopbackServer;
let resets = 0;

beforeAll(async () => {
  const simulators = {
    messages: (phone: string) => SENT.filter((message) => message.phone === phone),
    handleFaults: async (_request: IncomingMessage, response: ServerResponse) => {
      response.end('faults');
    },
    latestMessages: () => SENT,
    faults: { list: () => [{ provider: 'jibit', fault: 'quota' }] },
  } as unknown as Simulators;
  const serve = localPaths({
    simulators,
    demo: { keys: { free: 'blk_test_1' } },
    requests: () => [],
    reset: async () => {
      resets += 1;
      return 7;
    },
  });
  server = await listenOnLoopback(0, async (request, response) => {
    if (isLocalPath(request)) return serve(request, response);
    response.end('the API');
  });
});

afterAll(() => server.close());

const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

/** fetch() sets these headers itself. */
const statusOf = async (path: string, options: RequestOptions): Promise<number | undefined> => {
  const request = httpRequest({ port: server.port, host: '127.0.0.1', path, ...options });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  return response.statusCode;
};

describe('/_local/messages', () => {
  it.each(['%2B989550000001', '+989550000001', '09550000001', '0955-000-0001', '۰۹۵۵۰۰۰۰۰۰۱'])(
    'returns the messages to a phone written %s',
    async (phone) => {
      const response = await get(`/_local/messages?phone=${phone}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(SENT);
    },
  );

  it('returns an empty list for a phone without messages', async () => {
    expect(await (await get('/_local/messages?phone=09550000002')).json()).toEqual([]);
  });

  it.each(['', '?phone=', '?phone=12', '?other=1'])(
    'refuses the query "%s" with validation_failed',
    async (query) => {
      const response = await get(`/_local/messages${query}`);
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        code: 'validation_failed',
        errors: [
          { parameter: 'phone', detail: 'Must be an Iranian mobile number, such as %2B989121234567.' },
        ],
        request_id: response.headers.get('x-request-id'),
      });
    },
  );
});

describe('/_local/demo', () => {
  it('returns the demo keys', async () => {
    expect(await (await get('/_local/demo')).json()).toEqual({ keys: { free: 'blk_test_1' } });
  });
});

describe('/_local', () => {
  it('is a page that no other page can embed and whose script may call its own origin only', async () => {
    const response = await get('/_local');
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'sha256-\S+'; style-src 'sha256-\S+'; .*connect-src 'self'; .*frame-ancestors 'none'$/,
    );
    expect(await response.text()).toContain(testNationalId('deceased'));
  });
});

describe('/_local/state', () => {
  it('returns messages, requests and the fault of each provider', async () => {
    expect(await (await get('/_local/state')).json()).toEqual({
      messages: SENT,
      requests: [],
      providers: [{ provider: 'jibit', fault: 'quota' }],
    });
  });
});

describe('/_local/reset', () => {
  it('resets and returns the number of items that were forgotten', async () => {
    const before = resets;
    expect(await (await get('/_local/reset', { method: 'POST' })).json()).toEqual({ forgotten: 7 });
    expect(resets).toBe(before + 1);
  });

  it.each([
    ['another site', { Origin: 'http://evil.example' }],
    ['another port of this machine', { Origin: 'http://localhost:4000' }],
    ['a sandboxed page', { Origin: 'null' }],
    [
      'a script of another site that hides its origin',
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' },
    ],
  ])('refuses %s with 404 and resets nothing', async (_what, headers) => {
    const before = resets;
    expect(await statusOf('/_local/reset', { method: 'POST', headers })).toBe(404);
    expect(resets).toBe(before);
  });

  it('does not reset by GET', async () => {
    expect((await get('/_local/reset')).status).toBe(404);
  });
});

describe('other local paths', () => {
  it('open by a link on another site', async () => {
    const headers = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' };
    expect(await statusOf('/_local', { headers })).toBe(200);
  });

  it('are open to their own page', async () => {
    const host = `localhost:${server.port}`;
    expect(await statusOf('/_local/state', { headers: { Host: host, Origin: `http://${host}` } })).toBe(200);
  });

  it.each(['/_local', '/_local/state', '/_local/messages?phone=09550000001', '/_local/demo'])(
    'return 404 at %s to another host name, so that DNS rebinding reads no codes and no keys',
    async (path) => {
      expect(await statusOf(path, { headers: { Host: 'evil.example' } })).toBe(404);
    },
  );

  it('serve the faults of the simulators', async () => {
    expect(await (await get('/_local/faults')).text()).toBe('faults');
  });

  it.each(['/_local/', '/_local/x', '/_local/messages/'])('return 404 at %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it.each(['/_localx', '/_localx/', '/v1/_local/'])('do not include %s', async (path) => {
    expect(await (await get(path)).text()).toBe('the API');
  });
});

describe('/', () => {
  it('redirects a browser to /docs', async () => {
    const response = await get('/', { redirect: 'manual', headers: { Accept: 'text/html,*/*;q=0.8' } });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/docs']);
  });

  it('is left to the API for any other client', async () => {
    expect(await (await get('/')).text()).toBe('the API');
    expect(await (await get('/', { method: 'POST', headers: { Accept: 'text/html' } })).text()).toBe(
      'the API',
    );
  });
});
