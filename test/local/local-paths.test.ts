import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { isLocalPath, localPaths } from '#local/local-paths.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import type { SentMessage, Simulators } from '#local/simulators/server.ts';

const SENT: SentMessage[] = [{ phone: '+989550000001', code: '123456', sent_at: '2026-11-21T12:00:00.000Z' }];

let server: LoopbackServer;

beforeAll(async () => {
  const simulators = {
    messages: (phone: string) => SENT.filter((message) => message.phone === phone),
    handleFaults: async (_request, response) => {
      response.end('faults');
    },
  } as Pick<Simulators, 'messages' | 'handleFaults'>;
  const serve = localPaths({ simulators, demo: { keys: { free: 'blk_test_1' } } });
  server = await listenOnLoopback(0, async (request, response) => {
    if (isLocalPath(request)) return serve(request, response);
    response.end('the API');
  });
});

afterAll(() => server.close());

const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

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

describe('other local paths', () => {
  it.each(['/_local/messages?phone=09550000001', '/_local/demo'])(
    'return 404 at %s to another host name, so that DNS rebinding reads no codes and no keys',
    async (path) => {
      const headers = { Host: 'evil.example' };
      const request = httpRequest({ port: server.port, host: '127.0.0.1', path, headers });
      request.end();
      const [response] = await once(request, 'response');
      expect(response.statusCode).toBe(404);
      response.resume();
    },
  );

  it('serve the faults of the simulators', async () => {
    expect(await (await get('/_local/faults')).text()).toBe('faults');
  });

  it.each(['/_local/', '/_local/x', '/_local/messages/'])('return 404 at %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it.each(['/_local', '/_localx/', '/v1/_local/'])('do not include %s', async (path) => {
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
