import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { userKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
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
});
