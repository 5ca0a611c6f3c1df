import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { codeKey } from '#shared/table/keys.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { type Codes, codeOf, codesOn, NOW, newPhone, REJECTED } from './codes-on.ts';

let table: EmbeddedTable;
let store: Codes['store'];
let putOut: Codes['putOut'];
let fail: Codes['fail'];

beforeAll(async () => {
  table = await startEmbeddedTable();
  ({ store, putOut, fail } = codesOn(table));
});
afterAll(() => table.stop());

describe('replaceCode', () => {
  it('puts a code out where there was nothing', async () => {
    const phone = newPhone();
    expect(await store.read(phone)).toBeUndefined();
    expect(await putOut(phone, 'mac')).toEqual({ code: undefined });
    expect(await store.read(phone)).toEqual({
      version: 1,
      sends: [NOW],
      failures: 0,
      lastFailureAt: 0,
      code: codeOf('mac'),
    });
  });

  it.each(['nothing', 'a code'])('lets one of two win that both saw %s', async (seenBefore) => {
    const phone = newPhone();
    await Promise.all([seenBefore].filter((what) => what === 'a code').map((mac) => putOut(phone, mac)));
    const seen = await store.read(phone);
    const outcomes = await Promise.all(
      ['one', 'two'].map((mac) =>
        store.replaceCode(phone, seen, { code: codeOf(mac), sends: [NOW], now: NOW }),
      ),
    );
    expect(outcomes.filter((outcome) => outcome === undefined)).toHaveLength(1);
    const winner = ['one', 'two'][outcomes.findIndex((outcome) => outcome !== undefined)];
    expect((await store.read(phone))?.code?.mac).toBe(winner);
  });

  it('takes a write of its own that it finds already made for done: its answer was lost on the way', async () => {
    const phone = newPhone();
    const next = { code: codeOf('mac'), sends: [NOW], now: NOW };
    await store.replaceCode(phone, undefined, next);
    expect(await store.replaceCode(phone, undefined, next)).toEqual({ code: undefined });
    expect((await store.read(phone))?.version).toBe(1);
  });

  it('makes the old code worthless and gives the new one five tries of its own', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await fail(phone, 5);
    await putOut(phone, 'new', NOW + 60);
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toEqual({ mac: 'new' });
    expect(await store.redeem(phone, 'old')).toBe(false);
    expect(await store.redeem(phone, 'new')).toBe(true);
  });

  it('remembers the phone for a day after the last send or try, and no longer', async () => {
    const phone = newPhone();
    const ttl = async () =>
      (await table.client.send(new GetCommand({ TableName: table.name, Key: codeKey(phone) }))).Item?.ttl;
    await putOut(phone, 'mac');
    expect(await ttl()).toBe(NOW + 24 * 3600);
    await fail(phone, 1, NOW + 10);
    expect(await ttl()).toBe(NOW + 10 + 24 * 3600);
  });
});

describe('replaceCode, to take back a send that the SMS provider refused', () => {
  /** A send that is refused after `meanwhile` happened between its read and its write. */
  const refusedSend = async (phone: string, meanwhile: () => Promise<unknown>) => {
    const seen = await store.read(phone);
    await meanwhile();
    const replaced = await store.replaceCode(phone, seen, {
      code: codeOf('new'),
      sends: [NOW, NOW + 60],
      now: NOW + 60,
    });
    const written = { sends: [], failures: 0, lastFailureAt: 0, version: (seen?.version ?? 0) + 1 };
    return store.replaceCode(phone, written, { code: replaced?.code, sends: [NOW], now: NOW + 60 });
  };

  it('restores the old code and the cool-down', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await refusedSend(phone, () => fail(phone, 2));
    expect(await store.read(phone)).toMatchObject({
      sends: [NOW],
      failures: 2,
      code: { mac: 'old', tries: 2 },
    });
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toEqual({ mac: 'old' });
  });

  it('leaves no code where there was none', async () => {
    const phone = newPhone();
    const seen = await store.read(phone);
    await store.replaceCode(phone, seen, { code: codeOf('new'), sends: [NOW], now: NOW });
    const written = { sends: [], failures: 0, lastFailureAt: 0, version: 1 };
    await store.replaceCode(phone, written, { code: undefined, sends: [], now: NOW });
    expect(await store.read(phone)).toEqual({ version: 2, sends: [], failures: 0, lastFailureAt: 0 });
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual(REJECTED);
  });

  it('gives no try back that was made since the old code was read', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await refusedSend(phone, () => fail(phone, 5));
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toMatchObject({ reason: 'too_many_attempts' });
  });

  it('does not bring a code back to life that was used since it was read', async () => {
    const phone = newPhone();
    await putOut(phone, 'old');
    await refusedSend(phone, () => store.redeem(phone, 'old'));
    expect(await store.countTry(phone, 'sel_a', NOW + 60)).toEqual(REJECTED);
  });

  it('touches nothing if yet another code has been sent', async () => {
    const phone = newPhone();
    await putOut(phone, 'first');
    await putOut(phone, 'second');
    const stale = { sends: [], failures: 0, lastFailureAt: 0, version: 1 };
    expect(await store.replaceCode(phone, stale, { code: undefined, sends: [], now: NOW })).toBeUndefined();
    expect((await store.read(phone))?.code?.mac).toBe('second');
  });
});

describe('redeem', () => {
  it('lets one of twenty use the code', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => store.redeem(phone, 'mac')));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
  });

  it('uses the code up and forgives the failures, but not the sends', async () => {
    const phone = newPhone();
    await putOut(phone, 'mac');
    await fail(phone, 3);
    await store.redeem(phone, 'mac');
    expect(await store.read(phone)).toMatchObject({ sends: [NOW], failures: 0 });
    expect(await store.countTry(phone, 'sel_a', NOW)).toEqual(REJECTED);
  });

  it('finds nothing to use where there is nothing, and stores nothing', async () => {
    const phone = newPhone();
    expect(await store.redeem(phone, 'mac')).toBe(false);
    expect(await store.read(phone)).toBeUndefined();
  });
});
