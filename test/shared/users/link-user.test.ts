import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { buyerKey, eventsPartition, personKey, sellerKey, usersPartition } from '#shared/table/keys.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, itemsOf, linked, linkOf, noResponse, storeWhose } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(() => {
  store = userStore(table);
});

describe('link', () => {
  it('stores the user, the person, the phone link and the event with one id that holds the ordinal', async () => {
    await createSeller(table, 'sel_items');
    await linked(store, linkOf('sel_items', 'first'));
    const user = await linked(store, linkOf('sel_items', 'second'));
    expect(ordinalOf(user.id)).toBe(2);
    const attributes = {
      national_id_last_four: '0829',
      birth_date: '1370/1/15',
      phone: '+98999-second',
      display_name: 'second',
      created_at: '2026-11-21T00:00:00.000Z',
      checked_at: '2026-11-21T00:00:00.000Z',
    };
    const [, item] = await itemsOf(table, 'USERS#sel_items');
    expect(item).toEqual({
      pk: 'USERS#sel_items',
      sk: '000000000002',
      id: user.id,
      ...attributes,
      last_event: 2,
      person_hash: 'hash-of-second',
      phone_hash: 'phone-of-second',
    });
    expect(await itemsOf(table, 'PERSON#sel_items#hash-of-second')).toEqual([
      {
        pk: 'PERSON#sel_items#hash-of-second',
        sk: 'PERSON',
        ordinal: 2,
        user_id: user.id,
        phone_hash: 'phone-of-second',
        birth_day: '1991-04-04',
      },
    ]);
    expect(await itemsOf(table, 'LINKS#phone-of-second')).toEqual([
      { pk: 'LINKS#phone-of-second', sk: 'sel_items#000000000002', user_id: user.id },
    ]);
    expect(await itemsOf(table, 'EVENTS#sel_items')).toContainEqual({
      pk: 'EVENTS#sel_items',
      sk: '000000000002',
      type: 'user.linked',
      user_id: user.id,
      occurred_at: '2026-11-21T00:00:00.000Z',
      ttl: Date.parse('2026-12-22T00:00:00.000Z') / 1000,
    });
    expect(await itemsOf(table, 'SELLER#sel_items')).toEqual([
      { ...sellerKey('sel_items'), user_count: 2, removed_count: 0, event_count: 2 },
    ]);
  });

  it('takes the next ordinal if another person is linked between its read and its write', async () => {
    await createSeller(table, 'sel_overtaken');
    const overtaken = storeWhose(table, async (send) => {
      await linked(store, linkOf('sel_overtaken', 'overtaker'));
      return send();
    });
    const second = await linked(overtaken, linkOf('sel_overtaken', 'slower'));
    expect(ordinalOf(second.id)).toBe(2);
    const { users, total } = await store.listPage('sel_overtaken', 1, 20);
    expect([users.map(({ display_name }) => display_name), total]).toEqual([['overtaker', 'slower'], 2]);
  });

  it('keeps the time of the writer, even if it is earlier than that of the user before', async () => {
    await createSeller(table, 'sel_clocks');
    const at = (linkedAt: string, person: string) =>
      linked(store, { ...linkOf('sel_clocks', person), linkedAt });
    await at('2036-11-21T00:00:00.000Z', 'ahead');
    expect((await at('2026-11-21T00:00:00.000Z', 'right')).created_at).toBe('2026-11-21T00:00:00.000Z');
  });

  it('throws for a seller that does not exist and stores nothing', async () => {
    await expect(store.link(linkOf('sel_unknown', 'lost'))).rejects.toThrow('no seller record');
    expect(await itemsOf(table, 'SELLER#sel_unknown')).toEqual([]);
    expect(await itemsOf(table, 'LINKS#phone-of-lost')).toEqual([]);
  });
});

describe('link refuses', () => {
  beforeAll(() => createSeller(table, 'sel_refused'));

  it('buyer_gone if the buyer is not registered any more', async () => {
    const link = { ...linkOf('sel_refused', 'gone'), buyer: buyerKey('erased buyer') };
    expect(await store.link(link)).toEqual({ written: false, reason: 'buyer_gone' });
    expect(await itemsOf(table, 'LINKS#phone-of-gone')).toEqual([]);
  });

  it('person_changed if the end that it lifts is gone or another one by now', async () => {
    const lifted = { endedAt: 7, personHash: 'hash-of-lifted', phoneHash: 'phone-of-lifted' };
    const end = { ...personKey('sel_refused', 'hash-of-lifted'), ended_at: 8 };
    const link = { ...linkOf('sel_refused', 'lifted'), lifted };
    expect(await store.link(link)).toEqual({ written: false, reason: 'person_changed' });
    await table.client.send(new PutCommand({ TableName: table.name, Item: end }));
    expect(await store.link(link)).toEqual({ written: false, reason: 'person_changed' });
    const current = { ...link, lifted: { ...lifted, endedAt: 8 } };
    expect((await store.link(current)).written).toBe(true);
  });

  it('with the first of several reasons, before the counts of the seller', async () => {
    await linked(store, linkOf('sel_refused', 'twice'));
    const overtaken = storeWhose(table, async (send) => {
      await linked(store, linkOf('sel_refused', 'overtaker'));
      return send();
    });
    const link = { ...linkOf('sel_refused', 'twice'), buyer: buyerKey('erased buyer') };
    expect(await overtaken.link(link)).toEqual({ written: false, reason: 'buyer_gone' });
  });
});

describe('link of a seller whose counts are too low', () => {
  it.each([
    ['event', { user_count: 1 }],
    ['user', { event_count: 1 }],
  ])('overwrites no %s: it throws an error that is no conflict', async (item, counts) => {
    const sellerId = `sel_damaged_${item}`;
    const stored = async () => [
      await itemsOf(table, eventsPartition(sellerId)),
      await itemsOf(table, usersPartition(sellerId)),
    ];
    await createSeller(table, sellerId);
    await linked(store, linkOf(sellerId, 'first'));
    const before = await stored();
    await createSeller(table, sellerId, counts);
    const link = store.link(linkOf(sellerId, 'second'));
    await expect(link).rejects.toThrow(/the condition of action \d+ failed alone/);
    expect(await stored()).toEqual(before);
  });
});

describe('link when a response is lost', () => {
  beforeAll(() => createSeller(table, 'sel_lost'));

  it('never treats the link of another request as its own', async () => {
    const lossy = storeWhose(table, async () => {
      await linked(store, linkOf('sel_lost', 'contested'));
      throw noResponse;
    });
    expect(await lossy.link(linkOf('sel_lost', 'contested'))).toEqual({
      written: false,
      reason: 'person_changed',
    });
  });
});
