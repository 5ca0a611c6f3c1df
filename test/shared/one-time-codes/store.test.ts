import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { CodeOwner } from '#shared/one-time-codes/store.ts';
import { codeKey } from '#shared/table/keys.ts';
import { useTable } from '#test/table/use-table.ts';
import { type Codes, codeOf, codesOn, NOW, newOwner, tooMany } from './codes-on.ts';

const DAY_SECONDS = 24 * 3600;

const table = useTable();
let store: Codes['store'];
let send: Codes['send'];
let fail: Codes['fail'];
let record: Codes['record'];

beforeAll(() => {
  ({ store, send, fail, record } = codesOn(table));
});

const ttlOf = async ({ phoneHash, audience }: CodeOwner) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: codeKey(phoneHash, audience) }))).Item
    ?.ttl;

describe('recordSend', () => {
  it('stores one of two codes that were decided on the same record', async () => {
    const owner = newOwner();
    const { record: seen } = await store.read(owner, [], 0);
    const results = await Promise.all(
      ['one', 'two'].map((mac) => store.recordSend(owner, seen, codeOf(mac))),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it('stores nothing if a try was counted since the read', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const { record: seen } = await store.read(owner, [], 0);
    await fail(owner, 1);
    expect(await store.recordSend(owner, seen, codeOf('two', NOW + 60))).toBe(false);
    expect(await record(owner)).toMatchObject({ sends: [NOW], code: { mac: 'one.mac' } });
  });
});

describe('the ttl of an item', () => {
  it('is a day after the last send while there are no failures', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await send(owner, 'two', NOW + 60);
    expect(await ttlOf(owner)).toBe(NOW + 60 + DAY_SECONDS);
  });

  it('is absent while there are failures, also after another send, and returns after a redeem', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await fail(owner, 1);
    expect(await ttlOf(owner)).toBeUndefined();
    await send(owner, 'two', NOW + 60);
    expect(await ttlOf(owner)).toBeUndefined();
    await store.redeem(owner, 'two.mac', { now: NOW + 70 });
    expect(await ttlOf(owner)).toBe(NOW + 70 + DAY_SECONDS);
  });
});

describe('setProvider', () => {
  it('changes the provider of the outstanding code only', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await store.setProvider(owner, 'one.mac', 'second');
    await store.setProvider(owner, 'other.mac', 'third');
    expect((await record(owner)).code?.provider).toBe('second');
  });
});

describe('countTry', () => {
  it('counts exactly five of fifty tries at once', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await Promise.all(Array.from({ length: 50 }, () => store.countTry(owner, NOW)));
    expect(results.filter(({ written }) => written)).toHaveLength(5);
    expect(results.filter(({ written }) => !written)).toEqual(Array(45).fill(tooMany(60)));
    const { failures, code } = await record(owner);
    expect([failures, code?.tries]).toEqual([5, 5]);
  });
});

describe('redeem', () => {
  it('succeeds for one of twenty at the same moment', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await Promise.all(
      Array.from({ length: 20 }, () => store.redeem(owner, 'one.mac', { now: NOW })),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
  });
});
