import { QueryCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { userKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, inAnHour, linked, linkOf } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(() => {
  store = userStore(table);
});

const linkMany = async (sellerId: string, people: readonly string[], phone?: string): Promise<User[]> => {
  const users: User[] = [];
  for (const person of people) users.push(await linked(store, linkOf(sellerId, person, phone)));
  return users;
};

const remove = (sellerId: string, id: string) =>
  store.removeUser(sellerId, id, {
    removedAt: '2026-11-21T09:00:00.000Z',
    reason: 'seller' as const,
    deadlineMs: inAnHour(),
  });

const namesOf = (users: readonly User[]): string[] => users.map(({ display_name }) => display_name);

describe('findByPhone', () => {
  const all = { page: 1, pageSize: 100 };

  beforeAll(async () => {
    await createSeller(table, 'sel_phone');
    await createSeller(table, 'sel_phone_other');
    await linkMany('sel_phone', ['family-1', 'stranger', 'family-2']);
    await linkMany('sel_phone', ['shared-1', 'shared-2', 'shared-3'], 'shared');
    await linkMany('sel_phone_other', ['foreign'], 'shared');
  });

  it('returns the users of a phone, oldest link first, page by page', async () => {
    const first = await store.findByPhone('sel_phone', new KeyedHash('phone-of-shared'), {
      page: 1,
      pageSize: 2,
    });
    expect([namesOf(first.users), first.total, first.totalPages]).toEqual([['shared-1', 'shared-2'], 3, 2]);
    const second = await store.findByPhone('sel_phone', new KeyedHash('phone-of-shared'), {
      page: 2,
      pageSize: 2,
    });
    expect([namesOf(second.users), second.total, second.totalPages]).toEqual([['shared-3'], 3, 2]);
    const third = await store.findByPhone('sel_phone', new KeyedHash('phone-of-shared'), {
      page: 3,
      pageSize: 2,
    });
    expect(third).toEqual({ users: [], total: 3, totalPages: 2 });
  });

  it('returns the same user as its id does', async () => {
    const { users } = await store.findByPhone('sel_phone', new KeyedHash('phone-of-stranger'), all);
    expect(users).toHaveLength(1);
    expect(await store.getUser('sel_phone', users[0]?.id ?? '')).toEqual(users[0]);
  });

  it('finds links under every hash of the phone, in the order of the links', async () => {
    const phone = new KeyedHash('phone-of-shared', ['phone-of-family-2', 'phone-of-family-1']);
    const { users, total } = await store.findByPhone('sel_phone', phone, all);
    expect(total).toBe(5);
    expect(namesOf(users)).toEqual(['family-1', 'family-2', 'shared-1', 'shared-2', 'shared-3']);
  });

  it('returns a user once if a hash is given twice', async () => {
    const { total } = await store.findByPhone(
      'sel_phone',
      new KeyedHash('phone-of-stranger', ['phone-of-stranger']),
      all,
    );
    expect(total).toBe(1);
  });

  it('fills its pages: after a removal, later users of the phone move up', async () => {
    await createSeller(table, 'sel_moving');
    const [first] = await linkMany('sel_moving', ['moving-1', 'moving-2', 'moving-3'], 'moving');
    await remove('sel_moving', first?.id ?? '');
    const page = await store.findByPhone('sel_moving', new KeyedHash('phone-of-moving'), {
      page: 1,
      pageSize: 2,
    });
    expect([namesOf(page.users), page.total, page.totalPages]).toEqual([['moving-2', 'moving-3'], 2, 1]);
  });

  it("returns nothing for a phone of other sellers' users only", async () => {
    const page = await store.findByPhone('sel_phone_other', new KeyedHash('phone-of-stranger'), all);
    expect(page).toEqual({ users: [], total: 0, totalPages: 0 });
  });

  it('makes one query per hash side by side, then one BatchGet', async () => {
    const counted = countedTable(table);
    await userStore(counted.table).findByPhone(
      'sel_phone',
      new KeyedHash('phone-of-shared', ['phone-of-stranger']),
      all,
    );
    expect(counted.rounds).toEqual([['Query', 'Query'], ['BatchGet']]);
  });

  it('follows the key at which a query was cut off', async () => {
    const cut = interceptedTable(table, async ({ name, input }, send) => {
      if (name !== 'QueryCommand') return send();
      return table.client.send(new QueryCommand({ ...input, Limit: 1 } as never));
    });
    const { users } = await userStore(cut).findByPhone('sel_phone', new KeyedHash('phone-of-shared'), all);
    expect(namesOf(users)).toEqual(['shared-1', 'shared-2', 'shared-3']);
  });

  it('skips a user that is removed, or gets another phone, between the Query and the read of the users', async () => {
    await createSeller(table, 'sel_racing');
    const [removed, moved, kept] = await linkMany('sel_racing', ['gone', 'moved', 'kept'], 'racing');
    const racing = interceptedTable(table, async ({ name }, send) => {
      const result = await send();
      if (name !== 'QueryCommand') return result;
      await remove('sel_racing', removed?.id ?? '');
      const change = {
        TableName: table.name,
        Key: userKey('sel_racing', 2),
        UpdateExpression: 'SET phone_hash = :other',
        ExpressionAttributeValues: { ':other': 'phone-of-another' },
      };
      await table.client.send(new UpdateCommand(change));
      return result;
    });
    const page = await userStore(racing).findByPhone('sel_racing', new KeyedHash('phone-of-racing'), all);
    expect(page).toEqual({ users: [kept], total: 1, totalPages: 1 });
    expect(await store.getUser('sel_racing', moved?.id ?? '')).toEqual(moved);
  });

  it('does not return removed users', async () => {
    const { users } = await store.findByPhone('sel_phone', new KeyedHash('phone-of-shared'), all);
    await remove('sel_phone', users[1]?.id ?? '');
    const after = await store.findByPhone('sel_phone', new KeyedHash('phone-of-shared'), all);
    expect(namesOf(after.users)).toEqual(['shared-1', 'shared-3']);
  });
});
