import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { userKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { countedTable } from '#test/table/counted-table.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, itemsOf, linked, linkOf } from './linking.ts';
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

const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`);

const remove = (sellerId: string, id: string) =>
  store.removeUser(sellerId, id, {
    removedAt: '2026-11-21T09:00:00.000Z',
    reason: 'seller' as const,
  });

const namesOf = (users: readonly User[]): string[] => users.map(({ display_name }) => display_name);

describe('listPage', () => {
  it('returns an empty page far past every ordinal', async () => {
    await createSeller(table, 'sel_far');
    await linkMany('sel_far', numbered('far-', 2));
    const page = await store.listPage('sel_far', Number.MAX_SAFE_INTEGER, 100);
    expect(page).toEqual({ users: [], total: 2, totalPages: 1 });
  });

  it('makes no further call for the first page, whatever was removed, and for a page past the end', async () => {
    await createSeller(table, 'sel_gaps');
    const [first] = await linkMany('sel_gaps', numbered('gap-', 3));
    await remove('sel_gaps', first?.id ?? '');
    const counted = countedTable(table);
    const { listPage } = userStore(counted.table);
    await listPage('sel_gaps', 1, 2);
    await listPage('sel_gaps', 2, 2);
    expect(counted.rounds).toEqual([
      ['BatchGet', 'Query'],
      ['BatchGet', 'Query'],
    ]);
  });

  it('makes one call more for a page after a removal of its block only', async () => {
    await createSeller(table, 'sel_later');
    const users = await linkMany('sel_later', numbered('later-', 4));
    await remove('sel_later', users[3]?.id ?? '');
    const counted = countedTable(table);
    expect(namesOf((await userStore(counted.table).listPage('sel_later', 2, 2)).users)).toEqual(['later-3']);
    expect(counted.rounds).toEqual([['BatchGet', 'Query'], ['Get']]);
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
    await createSeller(table, 'sel_ahead');
    await linkMany('sel_ahead', ['counted']);
    let isFirst = true;
    const racing = interceptedTable(table, async ({ name }, send) => {
      const sent = await send();
      if (name === 'BatchGetCommand' && isFirst) {
        isFirst = false;
        await linkMany('sel_ahead', ['not-counted']);
      }
      return sent;
    });
    const first = Promise.withResolvers<void>();
    const late = interceptedTable(racing, async ({ name }, send) => {
      if (name === 'QueryCommand') await first.promise;
      const sent = await send();
      if (name === 'BatchGetCommand') first.resolve();
      return sent;
    });
    const page = await userStore(late).listPage('sel_ahead', 1, 20);
    expect([namesOf(page.users), page.total]).toEqual([['counted'], 1]);
  });

  it.each([
    ['the counts and the summary', 'BatchGetCommand', 1],
    ['the summary and its block', 'GetCommand', 1],
  ])('reads a page again if a user is removed between the reads of %s', async (_case, before, times) => {
    const sellerId = `sel_torn_${before}`;
    await createSeller(table, sellerId);
    const users = await linkMany(sellerId, numbered('torn-', 6));
    await remove(sellerId, users[0]?.id ?? '');
    const stale = await itemsOf(table, `SELLER#${sellerId}`);
    let left = times;
    const torn = interceptedTable(table, async ({ name }, send) => {
      if (name !== before || left === 0) return send();
      left -= 1;
      await remove(sellerId, users[1]?.id ?? '');
      const sent = (await send()) as { Responses?: Record<string, { sk: string }[]> };
      if (sent.Responses === undefined) return sent;
      const [summary] = (sent.Responses[table.name] ?? []).filter(({ sk }) => sk === 'SUMMARY');
      return { Responses: { [table.name]: [...stale, summary] } };
    });
    const page = await userStore(torn).listPage(sellerId, 2, 2);
    expect([namesOf(page.users), page.total, left]).toEqual([['torn-5', 'torn-6'], 4, 0]);
  });

  it('returns what it read if its reads never agree, as after a backup that was not of one moment', async () => {
    await createSeller(table, 'sel_skewed', { user_count: 3, removed_count: 2 });
    expect(await store.listPage('sel_skewed', 1, 20)).toEqual({ users: [], total: 1, totalPages: 1 });
  });
});

describe('findByPhone', () => {
  const all = { page: 1, pageSize: 100 };

  beforeAll(async () => {
    await createSeller(table, 'sel_phone');
    await createSeller(table, 'sel_phone_other');
    await linkMany('sel_phone', ['family-1', 'stranger', 'family-2']);
    await linkMany('sel_phone', ['shared-1', 'shared-2', 'shared-3'], 'shared');
    await linkMany('sel_phone_other', ['foreign'], 'shared');
  });

  it('returns the users of a phone page by page, of those checked at one time the later link first', async () => {
    const pageOf = (page: number) =>
      store.findByPhone('sel_phone', new KeyedHash('phone-of-shared'), { page, pageSize: 2 });
    const pages = [await pageOf(1), await pageOf(2), await pageOf(3)];
    expect(pages.map(({ users }) => namesOf(users))).toEqual([['shared-3', 'shared-2'], ['shared-1'], []]);
    expect(pages.map(({ total, totalPages }) => [total, totalPages])).toEqual(Array(3).fill([3, 2]));
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
