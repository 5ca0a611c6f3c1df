import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { listen, startRecorder } from '#bench/harness/recorder.ts';

/** Responds to each request with the status, and with what it received. */
const echo = (status: number, more: object = {}): Server =>
  createServer(async (request, response) => {
    const { method, url } = request;
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(JSON.stringify({ method, url, body: await text(request), ...more }));
  });

let database: Awaited<ReturnType<typeof listen>>;
let provider: Awaited<ReturnType<typeof listen>>;
let recorder: Awaited<ReturnType<typeof startRecorder>>;

beforeAll(async () => {
  const ConsumedCapacity = [{ CapacityUnits: 2 }, { CapacityUnits: 0.5 }];
  database = await listen(echo(400, { ConsumedCapacity }), 'http');
  provider = await listen(echo(201), 'http');
  recorder = await startRecorder({ databaseUrl: database.url, secrets: {} });
});
afterAll(() => Promise.all([database, provider, recorder].map(({ close }) => close())));

const callAws = async (target: string, input: object) => {
  const headers = { 'X-Amz-Target': target };
  const response = await fetch(recorder.url, { method: 'POST', headers, body: JSON.stringify(input) });
  return { status: response.status, output: (await response.json()) as Record<string, string> };
};

describe('the recorder', () => {
  it('records calls that are made at once as one round trip, and later ones as the next', async () => {
    await Promise.all([callAws('DynamoDB.Query', {}), callAws('DynamoDB.GetItem', {})]);
    await callAws('DynamoDB.PutItem', {});
    expect(recorder.take().map(({ target, roundTrip }) => [target, roundTrip])).toEqual([
      [expect.stringMatching(/Query|GetItem/), 0],
      [expect.stringMatching(/Query|GetItem/), 0],
      ['DynamoDB.PutItem', 1],
    ]);
    expect(recorder.take()).toEqual([]);
  });

  it('asks the database for the consumed capacity, and hides it from the function', async () => {
    const { status, output } = await callAws('DynamoDB.Query', { TableName: 't' });
    expect(status).toBe(400);
    expect(output).toEqual({
      method: 'POST',
      url: '/',
      body: '{"TableName":"t","ReturnConsumedCapacity":"TOTAL"}',
    });
    expect(recorder.take()).toMatchObject([
      { body: '{"TableName":"t"}', units: 2.5, response: { status: 400, body: JSON.stringify(output) } },
    ]);
  });

  it('passes a call to the provider on the port in its path', async () => {
    const path = `/${new URL(provider.url).port}/v1/messages?to=1`;
    const response = await fetch(`${recorder.url}${path}`, { method: 'POST', body: 'a=b' });
    expect(response.status).toBe(201);
    expect(await response.json()).toEqual({ method: 'POST', url: '/v1/messages?to=1', body: 'a=b' });
    expect(recorder.take()).toMatchObject([
      { target: undefined, method: 'POST', path, body: 'a=b', units: 0 },
    ]);
  });
});
