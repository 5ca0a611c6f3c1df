import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { type LocalControlPlane, openControlPlane } from '#local/control-plane.ts';
import { isLocalPath, localPaths } from '#local/local-paths.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import type { SentMessage, Simulators } from '#local/simulators/server.ts';

const SENT: SentMessage[] = [{ phone: '+989550000001', code: '123456', sent_at: '2026-11-21T12:00:00.000Z' }];

let server: LoopbackServer;
let controlPlane: LocalControlPlane;

beforeAll(async () => {
  controlPlane = await openControlPlane();
  const simulators = {
    messages: (phone: string) => SENT.filter((message) => message.phone === phone),
    handleFaults: async (_request, response) => {
      response.end('faults');
    },
  } as Pick<Simulators, 'messages' | 'handleFaults'> as Simulators;
  server = await listenOnLoopback(0, localPaths(controlPlane, simulators));
});

afterAll(async () => {
  await server.close();
  await controlPlane.close();
});

const get = (path: string, init: RequestInit = {}) => fetch(`http://127.0.0.1:${server.port}${path}`, init);

describe('/_local/messages', () => {
  it.each(['%2B989550000001', '+989550000001', '09550000001', '0955-000-0001', '۰۹۵۵۰۰۰۰۰۰۱'])(
    'gives what was sent to a phone written %s',
    async (phone) => {
      const response = await get(`/_local/messages?phone=${phone}`);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual(SENT);
    },
  );

  it('gives an empty list for a phone that got nothing', async () => {
    expect(await (await get('/_local/messages?phone=09550000002')).json()).toEqual([]);
  });

  it.each(['', '?phone=', '?phone=12', '?other=1'])('refuses "%s" and says what it wants', async (query) => {
    const response = await get(`/_local/messages${query}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({
      code: 'validation_failed',
      errors: [{ parameter: 'phone', detail: 'Must be an Iranian mobile number, such as %2B989121234567.' }],
      request_id: response.headers.get('x-request-id'),
    });
  });

  it('is not read by a page of another site whose name points here', async () => {
    const request = httpRequest({
      port: server.port,
      host: '127.0.0.1',
      path: '/_local/messages?phone=09550000001',
      headers: { Host: 'evil.example' },
    });
    request.end();
    const [response] = await once(request, 'response');
    expect(response.statusCode).toBe(404);
    response.resume();
  });
});

describe('other local paths', () => {
  it('are the faults of the simulators and the control plane', async () => {
    expect(await (await get('/_local/faults')).text()).toBe('faults');
    expect((await get('/_local/aws/usageplans')).status).toBe(403);
  });

  it.each(['/_local/', '/_local/x', '/_local/messages/'])('are not found: %s', async (path) => {
    expect((await get(path)).status).toBe(404);
  });

  it('are told from those of the service by their beginning alone', () => {
    expect(['/_local/messages', '/_local', '/_localx/', '/v1/_local/'].map(isLocalPath)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});
