import type { User } from '#shared/users/schema.ts';
import { userIdAt } from '#shared/users/user-id.ts';
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

const linkMany = async (sellerId: string, people: readonly string[]): Promise<User[]> => {
  const users: User[] = [];
  for (const person of people) users.push(await linked(store, linkOf(sellerId, person)));
  return users;
};

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

const remove = (sellerId: string, id: string) =>
  store.removeUser(sellerId, id, { removedAt: '2026-11-21T09:00:00.000Z', deadlineMs: inAnHour() });

const namesOf = (users: readonly User[]): string[] => users.map(({ display_name }) => display_name);

describe('getUser', () => {
  let user: User;
  beforeAll(async () => {
    await createSeller(table, 'sel_get');
    await createSeller(table, 'sel_get_other');
    user = await linked(store, linkOf('sel_get', 'sara'));
    await linked(store, linkOf('sel_get_other', 'sara'));
  });

  it('returns the user of an id', async () => {
    expect(await store.getUser('sel_get', user.id)).toEqual(user);
  });

  it('returns undefined for the same ordinal with another random part', async () => {
    expect(await store.getUser('sel_get', userIdAt(1, '0'.repeat(15)))).toBeUndefined();
  });

  it("returns undefined for another seller's user", async () => {
    expect(await store.getUser('sel_get_other', user.id)).toBeUndefined();
  });

  it('returns undefined for an ordinal that no user has yet', async () => {
    expect(await store.getUser('sel_get', userIdAt(2, user.id.slice(-15)))).toBeUndefined();
  });

  it.each(['', 'usr_1', 'usr_zzzzzzzaaaaabbbbbccccc', '../SELLER'])(
    'returns undefined for the malformed id %j without a call',
    async (id) => {
      const counted = countedTable(table);
      expect(await userStore(counted.table).getUser('sel_get', id)).toBeUndefined();
      expect(counted.rounds).toEqual([]);
    },
  );

  it('makes one call', async () => {
    const counted = countedTable(table);
    await userStore(counted.table).getUser('sel_get', user.id);
    expect(counted.rounds).toEqual([['Get']]);
  });
});

describe('listPage', () => {
  beforeAll(async () => {
    await createSeller(table, 'sel_pages');
    await linkMany('sel_pages', numbered('page-', 25));
  });

  it('returns the oldest links first, page by page', async () => {
    const { users, total, totalPages } = await store.listPage('sel_pages', 2, 10);
    expect([total, totalPages]).toEqual([25, 3]);
    expect(namesOf(users)).toEqual(numbered('page-', 20).slice(10));
  });

  it('returns a short last page, and an empty one past the end', async () => {
    expect((await store.listPage('sel_pages', 3, 10)).users).toHaveLength(5);
    expect(await store.listPage('sel_pages', 4, 10)).toEqual({ users: [], total: 25, totalPages: 3 });
  });

  it('returns an empty page far past every ordinal', async () => {
    const page = await store.listPage('sel_pages', Number.MAX_SAFE_INTEGER, 100);
    expect(page).toEqual({ users: [], total: 25, totalPages: 1 });
  });

  it("never shows another seller's users", async () => {
    await createSeller(table, 'sel_stranger');
    expect(await store.listPage('sel_stranger', 1, 100)).toEqual({ users: [], total: 0, totalPages: 0 });
  });

  it('makes two calls in one round trip', async () => {
    const counted = countedTable(table);
    await userStore(counted.table).listPage('sel_pages', 1, 100);
    expect(counted.rounds).toEqual([['Get', 'Query']]);
  });

  it('leaves removed users out, counts them in total_pages only, and moves no other user', async () => {
    await createSeller(table, 'sel_gaps');
    const users = await linkMany('sel_gaps', numbered('gap-', 6));
    for (const index of [0, 2, 3]) await remove('sel_gaps', users[index]?.id ?? '');
    const pages = await Promise.all([1, 2, 3].map((page) => store.listPage('sel_gaps', page, 2)));
    expect(pages.map((page) => namesOf(page.users))).toEqual([['gap-2'], [], ['gap-5', 'gap-6']]);
    expect(pages.map(({ total, totalPages }) => [total, totalPages])).toEqual(Array(3).fill([3, 3]));
  });

  it('makes no second query for a page that holds removed users', async () => {
    const counted = countedTable(table);
    await userStore(counted.table).listPage('sel_gaps', 1, 2);
    expect(counted.rounds).toEqual([['Get', 'Query']]);
  });

  it('queries again if a user that is counted is not in the page yet', async () => {
    await createSeller(table, 'sel_early');
    await linked(store, linkOf('sel_early', 'early'));
    let queries = 0;
    const racing = interceptedTable(table, async ({ name }, send) => {
      if (name !== 'QueryCommand') return send();
      queries += 1;
      return queries === 1 ? { Items: [] } : send();
    });
    expect(namesOf((await userStore(racing).listPage('sel_early', 1, 20)).users)).toEqual(['early']);
    expect(queries).toBe(2);
  });

  it('leaves out a user that is not counted yet', async () => {
    await createSeller(table, 'sel_ahead', { user_count: 1 });
    await createSeller(table, 'sel_ahead_source');
    const racing = interceptedTable(table, async ({ name }, send) => {
      const sent = await send();
      return name === 'GetCommand' ? { Item: { user_count: 1 } } : sent;
    });
    await linkMany('sel_ahead_source', ['counted', 'not-counted']);
    const page = await userStore(racing).listPage('sel_ahead_source', 1, 20);
    expect([namesOf(page.users), page.total]).toEqual([['counted'], 1]);
  });

  it.each([
    ['no counts', {}],
    ['user_count only', { user_count: 0 }],
    ['removed_count only', { removed_count: 0 }],
  ])('returns an empty page for a seller record with %s', async (_case, attributes) => {
    await createSeller(table, 'sel_counts', attributes);
    expect(await store.listPage('sel_counts', 1, 20)).toEqual({ users: [], total: 0, totalPages: 0 });
  });
});
