import { DeleteCommand, GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { personKey, removalBlockKey, removalSummaryKey, sellerKey } from '#shared/table/keys.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { BLOCK_SIZE } from '#shared/users/removals.ts';
import type { RemovalResult } from '#shared/users/remove-user.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, findPerson, itemsOf, linked, linkOf, noResponse, storeWhose } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(async () => {
  store = userStore(table);
  await createSeller(table, 'sel_remove');
});

const REMOVED_AT = '2026-11-21T09:00:00.000Z';

const remove = (id: string, by: UserStore = store, removedAt = REMOVED_AT): Promise<RemovalResult> =>
  by.removeUser('sel_remove', id, { removedAt, reason: 'seller' as const });

const newUser = (person: string) => linked(store, linkOf('sel_remove', person));

const removedCount = async (): Promise<number> => {
  const { Item } = await table.client.send(
    new GetCommand({ TableName: table.name, Key: sellerKey('sel_remove'), ConsistentRead: true }),
  );
  return Number(Item?.removed_count ?? 0);
};

/** Everything that is stored of a person: its user item, person item and phone link. */
const tracesOf = async (person: string): Promise<string> => {
  const items = await itemsOf(table, '');
  return JSON.stringify(items.filter((item) => JSON.stringify(item).includes(person)));
};

describe('removeUser', () => {
  it('leaves only a tombstone with the id and the time of the first removal, and counts it once', async () => {
    const user = await newUser('plain');
    const before = await removedCount();
    expect(await remove(user.id)).toBe('removed');
    expect(await remove(user.id, store, '2027-01-01T00:00:00.000Z')).toBe('already_removed');
    expect(await tracesOf('plain')).toBe('[]');
    const tombstones = (await itemsOf(table, 'REMOVED#sel_remove')).filter(({ id }) => id === user.id);
    expect(tombstones).toEqual([
      {
        pk: 'REMOVED#sel_remove',
        sk: expect.stringMatching(/^\d{12}$/),
        id: user.id,
        removed_at: REMOVED_AT,
      },
    ]);
    expect(await removedCount()).toBe(before + 1);
  });

  it('removes what was stored under an older hash secret', async () => {
    const user = await linked(store, {
      ...linkOf('sel_remove', 'rotated'),
      person: new KeyedHash('old-hash-of-rotated', ['hash-of-rotated']),
      phone: new KeyedHash('old-phone-of-rotated'),
    });
    expect(await remove(user.id)).toBe('removed');
    expect(await tracesOf('rotated')).toBe('[]');
  });

  it('removes a user whose person item a damaged table has lost', async () => {
    const user = await newUser('half');
    const Key = personKey('sel_remove', 'hash-of-half');
    await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
    const options = {
      removedAt: REMOVED_AT,
      reason: 'seller' as const,
    };
    expect(await store.removeUser('sel_remove', user.id, options)).toBe('removed');
    expect(await tracesOf('half')).toBe('[]');
  });

  it('writes the event with the reason, and notes the ordinal in the index of removals', async () => {
    await createSeller(table, 'sel_index');
    const users = [
      await linked(store, linkOf('sel_index', 'one')),
      await linked(store, linkOf('sel_index', 'two')),
    ];
    const options = { removedAt: REMOVED_AT, reason: 'erasure' as const };
    expect(await store.removeUser('sel_index', users[1]?.id ?? '', options)).toBe('removed');
    const [, , event] = await itemsOf(table, 'EVENTS#sel_index');
    expect(event).toMatchObject({
      sk: '000000000003',
      type: 'user.removed',
      user_id: users[1]?.id,
      reason: 'erasure',
      occurred_at: REMOVED_AT,
    });
    expect(JSON.stringify(event)).not.toContain('two');
    const bitmap = new Uint8Array(512);
    bitmap[0] = 0b10;
    expect(await itemsOf(table, 'REMOVALS#sel_index')).toEqual([
      { pk: 'REMOVALS#sel_index', sk: '000000000000', removed_ordinals: bitmap },
      { pk: 'REMOVALS#sel_index', sk: 'SUMMARY', removed_counts: new Uint8Array([0, 1]) },
    ]);
    expect(await store.listPage('sel_index', 1, 20)).toEqual({ users: [users[0]], total: 1, totalPages: 1 });
  });

  it('needs 16 write units when 100,000 of a million users were removed', async () => {
    await createSeller(table, 'sel_million', { user_count: 1_000_000, removed_count: 100_000 });
    const blocks = Math.ceil(1_000_000 / BLOCK_SIZE);
    const removed_counts = new Uint8Array(blocks * 2).fill(1);
    const removed_ordinals = new Uint8Array(BLOCK_SIZE / 8).fill(0b1);
    const index = [
      { ...removalSummaryKey('sel_million'), removed_counts },
      { ...removalBlockKey('sel_million', blocks - 1), removed_ordinals },
    ];
    for (const Item of index) await table.client.send(new PutCommand({ TableName: table.name, Item }));
    const long = 'پ'.repeat(100);
    const user = await linked(store, linkOf('sel_million', long, '989121234567'));
    let units = 0;
    const counted = interceptedTable(table, async ({ name, input }, send) => {
      if (name !== 'TransactWriteCommand') return send();
      const command = new TransactWriteCommand({ ...input, ReturnConsumedCapacity: 'TOTAL' } as never);
      const output = await table.client.send(command);
      units = output.ConsumedCapacity?.[0]?.CapacityUnits ?? 0;
      return output;
    });
    const options = { removedAt: REMOVED_AT, reason: 'seller' as const };
    expect(await userStore(counted).removeUser('sel_million', user.id, options)).toBe('removed');
    expect(units).toBe(16);
  });
});

describe("removeUser with the caller's own items", () => {
  const audit = (person: string): TransactItem => ({
    Put: { TableName: table.name, Item: { pk: `AUDIT#${person}`, sk: REMOVED_AT } },
  });

  const removeAudited = (id: string, person: string) =>
    store.removeUser('sel_remove', id, {
      removedAt: REMOVED_AT,
      reason: 'seller' as const,
      alsoWrite: [audit(person)],
    });

  it('writes them with a removal, and not with a second one', async () => {
    const user = await newUser('user-1');
    await removeAudited(user.id, 'first');
    expect(await itemsOf(table, 'AUDIT#first')).toHaveLength(1);
    expect(await removeAudited(user.id, 'second')).toBe('already_removed');
    expect(await itemsOf(table, 'AUDIT#second')).toEqual([]);
  });
});

describe('removeUser beside other writes', () => {
  it('does not remove a person who is linked again before a second removal of the old id', async () => {
    const user = await newUser('relinked');
    const late = storeWhose(table, async (send) => {
      await remove(user.id, store, '2026-11-21T08:59:59.000Z');
      await newUser('relinked');
      return send();
    });
    expect(await remove(user.id, late)).toBe('already_removed');
    const person = await findPerson(store, 'sel_remove', 'hash-of-relinked');
    expect(await store.getUser('sel_remove', person?.userId ?? '')).toMatchObject({
      display_name: 'relinked',
    });
  });
});

describe('removeUser when a response is lost', () => {
  it('returns already_removed if another request removed the user before the write is sent again', async () => {
    const user = await newUser('contested');
    const lossy = storeWhose(table, async () => {
      await remove(user.id);
      throw noResponse;
    });
    expect(await remove(user.id, lossy)).toBe('already_removed');
  });
});
