import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { CodeOwner } from '#shared/one-time-codes/store.ts';
import { codeKey } from '#shared/table/keys.ts';
import { useTable } from '#test/table/use-table.ts';
import { type Codes, codeOf, codesOn, countedOf, NOW, newOwner, rejected, tooMany } from './codes-on.ts';

const DAY_SECONDS = 24 * 3600;

const table = useTable();
let store: Codes['store'];
let send: Codes['send'];
let fail: Codes['fail'];
let failTen: Codes['failTen'];
let record: Codes['record'];

beforeAll(() => {
  ({ store, send, fail, failTen, record } = codesOn(table));
});

const ttlOf = async ({ phoneHash, audience }: CodeOwner) =>
  (await table.client.send(new GetCommand({ TableName: table.name, Key: codeKey(phoneHash, audience) }))).Item
    ?.ttl;

describe('recordSend', () => {
  it('stores the first code of a phone', async () => {
    const owner = newOwner();
    expect((await send(owner, 'one')).isStored).toBe(true);
    expect(await record(owner)).toEqual({
      version: 1,
      sends: [NOW],
      failures: 0,
      lastFailureAt: 0,
      lastRefusedAt: 0,
      lockAt: 10,
      code: { mac: 'one.mac', expiresAt: NOW + 300, tries: 0, provider: 'first' },
    });
  });

  it('stores one of two codes that were decided on the same record', async () => {
    const owner = newOwner();
    const { record: seen } = await store.read(owner);
    const results = await Promise.all(
      ['one', 'two'].map((mac) => store.recordSend(owner, seen, codeOf(mac))),
    );
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it('stores nothing if a try was counted since the read', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const { record: seen } = await store.read(owner);
    await fail(owner, 1);
    expect(await store.recordSend(owner, seen, codeOf('two', NOW + 60))).toBe(false);
    expect(await record(owner)).toMatchObject({ sends: [NOW], code: { mac: 'one.mac' } });
  });

  it('gives the new code five tries of its own and invalidates the old code', async () => {
    const owner = newOwner();
    await send(owner, 'old');
    await fail(owner, 5);
    await send(owner, 'new', NOW + 60);
    expect(await store.countTry(owner, NOW + 60)).toEqual(countedOf('new.mac'));
    expect(await store.redeem(owner, 'old.mac', NOW + 60)).toBe(false);
    expect(await store.redeem(owner, 'new.mac', NOW + 60)).toBe(true);
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
    await store.redeem(owner, 'two.mac', NOW + 70);
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

describe('redeem', () => {
  it('succeeds for one of twenty at the same moment', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    const results = await Promise.all(Array.from({ length: 20 }, () => store.redeem(owner, 'one.mac', NOW)));
    expect(results.filter(Boolean)).toHaveLength(1);
  });

  it('removes the code, sets the failures to 0 and keeps the sends', async () => {
    const owner = newOwner();
    await send(owner, 'one');
    await fail(owner, 3);
    await store.redeem(owner, 'one.mac', NOW);
    expect(await record(owner)).toEqual({
      version: 5,
      sends: [NOW],
      failures: 0,
      lastFailureAt: 0,
      lastRefusedAt: 0,
      lockAt: 10,
    });
    expect(await store.countTry(owner, NOW)).toEqual(rejected);
  });

  it('starts the locks again at ten failures', async () => {
    const owner = newOwner();
    await failTen(owner);
    await send(owner, 'third', NOW + 900);
    await store.redeem(owner, 'third.mac', NOW + 900);
    await failTen(owner, NOW + 1000);
    expect(await store.countTry(owner, NOW + 1000)).toEqual(tooMany(900));
  });

  it('returns false and stores nothing where there is no code', async () => {
    const owner = newOwner();
    expect(await store.redeem(owner, 'one.mac', NOW)).toBe(false);
    expect((await record(owner)).version).toBe(0);
  });
});
