import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { FAULT_NAMES } from '#local/simulators/faults.ts';
import { PROVIDER_NAMES, type Simulators, startSimulators } from '#local/simulators/server.ts';

let simulators: Simulators;
let server: Server;
let url: string;
beforeAll(async () => {
  simulators = await startSimulators();
  server = createServer((request, response) => simulators.handleFaults(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as { port: number }).port}/_local/faults`;
});
afterAll(async () => {
  await simulators.close();
  server.close();
  server.closeAllConnections();
});

const JSON_TYPE = { 'Content-Type': 'application/json' };

// biome-ignore lint/suspicious/noExplicitAny: a test reads JSON of any shape.
const jsonOf = (response: Response): Promise<any> => response.json();

const post = async (body: string, headers: Record<string, string> = JSON_TYPE) => {
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, json: await jsonOf(response) };
};
const setFault = (provider: unknown, fault: unknown) => post(JSON.stringify({ provider, fault }));
const currentFaults = async () => jsonOf(await fetch(url));

describe('the fault panel', () => {
  it('lists every provider with its fault, and every fault with its meaning', async () => {
    const { providers, faults } = await currentFaults();
    expect(providers).toEqual(PROVIDER_NAMES.map((provider) => ({ provider, fault: 'none' })));
    expect(Object.keys(faults)).toEqual(['none', ...FAULT_NAMES]);
    expect(Object.values(faults).every((meaning) => String(meaning).endsWith('.'))).toBe(true);
  });

  it('sets and removes a fault, and returns the faults of all providers', async () => {
    const { status, json } = await setFault('zohal', 'quota');
    expect([status, json.providers[1]]).toEqual([200, { provider: 'zohal', fault: 'quota' }]);
    expect(simulators.faults.list()[1]?.fault).toBe('quota');
    expect((await setFault('zohal', 'none')).json.providers[1]).toEqual({ provider: 'zohal', fault: 'none' });
  });

  it.each(PROVIDER_NAMES)('closes the port of %s, and opens the same port again', async (provider) => {
    const { base_url } = simulators.providerSecret[provider] as { base_url: string };
    await setFault(provider, 'connection_refused');
    await expect(fetch(base_url)).rejects.toThrow('fetch failed');
    await setFault(provider, 'connection_refused');
    await setFault(provider, 'none');
    expect((await fetch(base_url)).status).toBeGreaterThanOrEqual(400);
  });

  it('names the accepted values when it rejects others', async () => {
    const { status, json } = await setFault('acme', 'gremlins');
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    const details = Object.fromEntries(
      json.errors.map(({ pointer, detail }: { pointer: string; detail: string }) => [pointer, detail]),
    );
    expect(details['#/provider']).toContain('kavenegar');
    expect(details['#/fault']).toContain('slow_headers');
  });

  it.each([
    ['no body', ''],
    ['a body that is not JSON', '{'],
    ['a list', '[]'],
    ['a body of 20,000 characters', ' '.repeat(20_000)],
  ])('rejects %s as malformed', async (_what, body) => {
    const { status, json } = await post(body);
    expect([status, json.code]).toEqual([400, 'malformed_json']);
  });

  it.each([
    ['a missing field', { provider: 'jibit' }],
    ['an unknown field', { provider: 'jibit', fault: 'none', when: 'now' }],
  ])('rejects %s', async (_what, body) => {
    expect((await post(JSON.stringify(body))).status).toBe(422);
  });

  it('rejects plain text, which a form of another site can send without a preflight', async () => {
    const { status } = await post('{"provider":"jibit","fault":"quota"}', { 'Content-Type': 'text/plain' });
    expect(status).toBe(415);
    expect(simulators.faults.list()[0]?.fault).toBeUndefined();
  });

  it('returns 404 to any other method', async () => {
    expect((await fetch(url, { method: 'DELETE' })).status).toBe(404);
  });
});
