import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { deadlineIn } from '#shared/deadline.ts';
import { runInRequest } from '#shared/request-context.ts';
import { openTable } from '#shared/table/client.ts';
import { requestUntil } from '#test/fakes/request.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();
let silent: Server;

beforeAll(async () => {
  silent = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(silent, 'listening');
});
afterAll(async () => {
  silent.closeAllConnections();
  silent.close();
});

describe('openTable', () => {
  it('leaves out undefined values at any depth', async () => {
    const Key = { pk: 'a', sk: 'a' };
    const Item = { ...Key, none: undefined, deep: { none: undefined, some: 1 } };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
    const found = await table.client.send(new GetCommand({ TableName: table.name, Key }));
    expect(found.Item).toEqual({ ...Key, deep: { some: 1 } });
  });

  it('throws a TimeoutError after three attempts when the database never responds', async () => {
    let requests = 0;
    silent.on('request', () => {
      requests += 1;
    });
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { client } = openTable('test', endpoint, { connectMs: 5000, responseMs: 300 });
    const asked = client.send(new GetCommand({ TableName: 'test', Key: { pk: 'a', sk: 'a' } }));
    await expect(asked).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(requests).toBe(3);
    client.destroy();
  });

  it.each([
    ['a call', undefined],
    ['a call with a later timeout of its own', { abortSignal: AbortSignal.timeout(60_000) }],
  ])('ends %s at the deadline of the request that makes it, and records its time', async (_case, options) => {
    const endpoint = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const { client } = openTable('test', endpoint);
    const context = requestUntil(deadlineIn(50));
    const asked = runInRequest(context, () =>
      client.send(new GetCommand({ TableName: 'test', Key: { pk: 'a', sk: 'a' } }), options),
    );
    await expect(asked).rejects.toMatchObject({ name: 'AbortError' });
    expect(context.calls).toEqual([{ target: 'dynamodb:Get', ms: expect.any(Number) }]);
    client.destroy();
  });
});
