import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { BatchWriteCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { forgetUse, isLocalPath, localPaths } from '#local/local-paths.ts';
import { type LoopbackServer, listenOnLoopback } from '#local/loopback-server.ts';
import { buyerKey, codeKey, limitSortKey, limitsPartition, userKey } from '#shared/table/keys.ts';
import { useTable } from '#test/table/use-table.ts';

let server: LoopbackServer;
let resets = 0;

beforeAll(async () => {
  const serve = localPaths({ keys: { free: 'blk_test_1' } }, async () => {
    resets += 1;
    return 7;
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

describe('/_local/demo', () => {
  it('returns the demo keys to a program and to a page of the service', async () => {
    expect(await (await get('/_local/demo')).json()).toEqual({ keys: { free: 'blk_test_1' } });
    const host = `localhost:${server.port}`;
    expect(await statusOf('/_local/demo', { headers: { Host: host, Origin: `http://${host}` } })).toBe(200);
  });

  it('is not found under another host name, so that DNS rebinding reads no keys', async () => {
    expect(await statusOf('/_local/demo', { headers: { Host: 'evil.example' } })).toBe(404);
  });
});

describe('/_local/reset', () => {
  it('resets by POST only and returns the number of items that were forgotten', async () => {
    const notFound = await get('/_local/reset');
    expect(await notFound.json()).toMatchObject({
      status: 404,
      request_id: notFound.headers.get('x-request-id'),
    });
    expect(await (await get('/_local/reset', { method: 'POST' })).json()).toEqual({ forgotten: 7 });
    expect(resets).toBe(1);
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
});

it('no other path begins with /_local', async () => {
  for (const path of ['/_local', '/_local/', '/_local/x']) expect((await get(path)).status).toBe(404);
  for (const path of ['/_localx', '/v1/_local/']) expect(await (await get(path)).text()).toBe('the API');
});

const table = useTable();

const put = (keys: readonly object[]) =>
  table.client.send(
    new BatchWriteCommand({ RequestItems: { [table.name]: keys.map((Item) => ({ PutRequest: { Item } })) } }),
  );

describe('forgetUse', () => {
  it('deletes every code and count, and nothing else', async () => {
    const kept = [buyerKey('p'), userKey('sel_1', 1)];
    await put([...kept, codeKey('p', 'sel_1'), codeKey('p', 'public')]);
    for (const start of [0, 25, 50]) {
      await put(
        Array.from({ length: 25 }, (_, index) => ({
          pk: limitsPartition('key_1'),
          sk: limitSortKey('HOUR', start + index),
        })),
      );
    }
    expect(await forgetUse(table)).toBe(77);
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.name }));
    expect(Items).toHaveLength(2);
    expect(Items).toEqual(expect.arrayContaining(kept));
    expect(await forgetUse(table)).toBe(0);
  });
});
