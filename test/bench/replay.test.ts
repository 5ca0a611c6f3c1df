import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { mock } from 'node:test';
import type { Call } from '#bench/harness/recorder.ts';
import { startReplay } from '#bench/harness/replay.ts';

let server: Awaited<ReturnType<typeof startReplay>>;
let agent: Agent;

beforeAll(async () => {
  server = await startReplay();
  agent = new Agent({ ca: server.cert, keepAlive: true, maxSockets: 1 });
});
afterAll(async () => {
  agent.destroy();
  await server.close();
});

const send = async (path: string, body: string, target?: string) => {
  const headers = target === undefined ? {} : { 'X-Amz-Target': target };
  const sent = request(`${server.url}${path}`, { method: 'POST', agent, headers }).end(body);
  const [response] = await once(sent, 'response');
  return { status: response.statusCode, body: await text(response) };
};

const call = (target: string | undefined, body: string, response: string, path = '/'): Call => ({
  roundTrip: 0,
  target,
  method: 'POST',
  path,
  headers: {},
  body,
  response: { status: 200, type: 'application/json', body: response },
  units: 0,
});

const GET = 'DynamoDB.GetItem';

describe('the replay', () => {
  it('returns the response of the recorded call that reads the same kind of item, whatever its id is', async () => {
    server.replay(
      [call(GET, '{"pk":"SELLER#one"}', 'the seller'), call(GET, '{"pk":"BUYER#one"}', 'the buyer')],
      'http://recorder',
    );
    expect(await send('/', '{"pk":"BUYER#two"}', GET)).toEqual({ status: 200, body: 'the buyer' });
    expect(await send('/', '{"pk":"SELLER#two"}', GET)).toEqual({ status: 200, body: 'the seller' });
  });

  it('returns the responses of equal calls in turns', async () => {
    server.replay([call(GET, '', 'first'), call(GET, '', 'second')], 'http://recorder');
    const bodies = [await send('/', '', GET), await send('/', '', GET), await send('/', '', GET)];
    expect(bodies.map(({ body }) => body)).toEqual(['first', 'second', 'first']);
  });

  it('replaces the URL of the recorder, so that providers are found here', async () => {
    server.replay([call(undefined, '', 'http://recorder/80', '/80/token?id=1')], 'http://recorder');
    expect((await send('/80/token?id=2', '')).body).toBe(`${server.url}/80`);
  });

  it('returns the id that the call has in place of the recorded one, so that a write finds its own', async () => {
    const [recorded, sent] = ['{":id":{"S":"recorded-id-1"}}', '{":id":{"S":"another-id-22"}}'];
    server.replay([call(GET, recorded, '{"tries":["recorded-id-1"]}')], 'http://recorder');
    expect((await send('/', sent, GET)).body).toBe('{"tries":["another-id-22"]}');
  });

  it('responds 400 to a call that was not recorded, and names it', async () => {
    const printed = mock.method(console, 'error', () => {});
    server.replay([], 'http://recorder');
    expect((await send('/', '{"pk":"SELLER#one"}', GET)).status).toBe(400);
    expect(printed.mock.calls[0]?.arguments).toEqual([expect.stringContaining(GET)]);
    printed.mock.restore();
  });
});
