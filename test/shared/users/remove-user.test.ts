import { GetCommand, PutCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { removalBlockKey, removalSummaryKey, sellerKey } from '#shared/table/keys.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { BLOCK_SIZE } from '#shared/users/removals.ts';
import type { RemovalResult } from '#shared/users/remove-user.ts';
import { userIdAt } from '#shared/users/user-id.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, findPerson, inAnHour, itemsOf, linked, linkOf } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(async () => {
  store = userStore(table);
  await createSeller(table, 'sel_remove');
});

const REMOVED_AT = '2026-11-21T09:00:00.000Z';

const remove = (id: string, by: UserStore = store, removedAt = REMOVED_AT): Promise<RemovalResult> =>
  by.removeUser('sel_remove', id, { removedAt, reason: 'seller' as const, deadlineMs: inAnHour() });

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
  it('leaves only a tombstone with the id and the time, and counts the removal', async () => {
    const user = await newUser('plain');
    const before = await removedCount();
    expect(await remove(user.id)).toBe('removed');
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
    expect(await store.getUser('sel_remove', user.id)).toBeUndefined();
  });

  it('returns already_removed the second time, keeps the first time and counts once', async () => {
    const user = await newUser('twice');
    await remove(user.id);
    const before = await removedCount();
    expect(await remove(user.id, store, '2027-01-01T00:00:00.000Z')).toBe('already_removed');
    expect(await removedCount()).toBe(before);
    const items = await itemsOf(table, 'REMOVED#sel_remove');
    expect(items.find(({ id }) => id === user.id)?.removed_at).toBe(REMOVED_AT);
  });

  it("returns not_found for an unknown, malformed or another seller's id and changes nothing", async () => {
    const user = await newUser('kept');
    await createSeller(table, 'sel_other');
    const foreign = await linked(store, linkOf('sel_other', 'foreign'));
    const ids = [userIdAt(1, '0'.repeat(15)), userIdAt(999_999, '0'.repeat(15)), 'usr_1', '', foreign.id];
    expect(await Promise.all(ids.map((id) => remove(id)))).toEqual(ids.map(() => 'not_found'));
    expect(await store.getUser('sel_remove', user.id)).toEqual(user);
    expect(await store.getUser('sel_other', foreign.id)).toEqual(foreign);
  });

  it('lets the same person be linked again, with a new id at a new ordinal', async () => {
    const first = await newUser('again');
    await remove(first.id);
    const second = await newUser('again');
    expect(second.id).not.toBe(first.id);
    expect(await remove(first.id)).toBe('already_removed');
    expect(await store.getUser('sel_remove', second.id)).toEqual(second);
    expect((await findPerson(store, 'sel_remove', 'hash-of-again'))?.userId).toBe(second.id);
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

  it('writes the event with the reason, and notes the ordinal in the index of removals', async () => {
    await createSeller(table, 'sel_index');
    const users = [
      await linked(store, linkOf('sel_index', 'one')),
      await linked(store, linkOf('sel_index', 'two')),
    ];
    const options = { removedAt: REMOVED_AT, reason: 'erasure' as const, deadlineMs: inAnHour() };
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
    const options = { removedAt: REMOVED_AT, reason: 'seller' as const, deadlineMs: inAnHour() };
    expect(await userStore(counted).removeUser('sel_million', user.id, options)).toBe('removed');
    expect(units).toBe(16);
  });

  it('makes one read and one transaction', async () => {
    const user = await newUser('calls');
    const counted = countedTable(table);
    await remove(user.id, userStore(counted.table));
    expect(counted.rounds).toEqual([['BatchGet'], ['TransactWrite']]);
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
      deadlineMs: inAnHour(),
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
