import { BatchWriteCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { personKey, phoneLinkKey, userKey } from '#shared/table/keys.ts';
import type { User } from '#shared/users/schema.ts';
import { newRandomPart, ordinalOf, userIdAt } from '#shared/users/user-id.ts';
import { type NewUserAttributes, userFrom } from '#shared/users/user-item.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, inAnHour, linked, linkOf } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const SELLER = 'sel_crowd';
const USERS = 300;
const REMOVED = 60;
const CREATED = 20;
const PAGE_SIZE = 20;
const REMOVERS = 8;
const LINKERS = 4;
const BATCH = 25;

const table = useTable();
let store: UserStore;
let before: User[];

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

interface StoredUser extends NewUserAttributes {
  readonly id: string;
  readonly checked_at: string;
}

/** The three items of a link, as `link` stores them. */
const itemsAt = (user: StoredUser, ordinal: number) => {
  const { person, phone, birthDay } = linkOf(SELLER, `old-${ordinal}`);
  const [personHash, phoneHash] = [person.current, phone.current];
  return [
    {
      ...userKey(SELLER, ordinal),
      ...user,
      last_event: ordinal,
      person_hash: personHash,
      phone_hash: phoneHash,
    },
    {
      ...personKey(SELLER, personHash),
      ordinal,
      user_id: user.id,
      phone_hash: phoneHash,
      birth_day: birthDay,
    },
    { ...phoneLinkKey(phoneHash, SELLER, ordinal), user_id: user.id },
  ];
};

const writeAll = async (items: readonly object[]): Promise<void> => {
  for (let first = 0; first < items.length; first += BATCH) {
    const requests = items.slice(first, first + BATCH).map((Item) => ({ PutRequest: { Item } }));
    const { UnprocessedItems = {} } = await table.client.send(
      new BatchWriteCommand({ RequestItems: { [table.name]: requests as never } }),
    );
    expect(UnprocessedItems).toEqual({});
  }
};

beforeAll(async () => {
  store = userStore(table);
  await createSeller(table, SELLER, { user_count: USERS, event_count: USERS });
  const stored = upTo(USERS).map((ordinal) => ({
    ...linkOf(SELLER, `old-${ordinal}`).user,
    checked_at: '2026-11-21T00:00:00.000Z',
    id: userIdAt(ordinal, newRandomPart()),
  }));
  before = stored.map((user) => userFrom({ ...user }));
  await writeAll(stored.flatMap((user, index) => itemsAt(user, index + 1)));
});

/** Runs `task` for every item, with a number of workers that each do one at a time. */
const inParallel = async <Item, Result>(
  workers: number,
  items: readonly Item[],
  task: (item: Item) => Promise<Result>,
): Promise<Result[]> => {
  const results: Result[] = [];
  const open = [...items.entries()];
  const work = async (): Promise<void> => {
    for (let next = open.shift(); next !== undefined; next = open.shift()) {
      results[next[0]] = await task(next[1]);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
};

const idsOf = (users: readonly User[]): string[] => users.map(({ id }) => id);

const pageOf = (ordinal: number): number => Math.ceil(ordinal / PAGE_SIZE);

/** Reads all pages; returns the ids of each. */
const readPages = async (): Promise<string[][]> => {
  const { totalPages } = await store.listPage(SELLER, 1, PAGE_SIZE);
  const pages = await Promise.all(upTo(totalPages).map((page) => store.listPage(SELLER, page, PAGE_SIZE)));
  return pages.map(({ users }) => idsOf(users));
};

describe('60 of 300 users removed at random while 20 are linked', () => {
  let removed: Set<string>;
  let created: User[];
  let seenMeanwhile: string[][][];

  beforeAll(async () => {
    const [chosen = []] = fc.sample(
      fc.shuffledSubarray(before, { minLength: REMOVED, maxLength: REMOVED }),
      1,
    );
    removed = new Set(idsOf(chosen));
    let isDone = false;
    const readMeanwhile = async (): Promise<string[][][]> => {
      const seen: string[][][] = [];
      while (!isDone) seen.push(await readPages());
      return seen;
    };
    const remove = (id: string) =>
      store.removeUser(SELLER, id, {
        removedAt: '2026-11-21T09:00:00.000Z',
        reason: 'seller' as const,
        deadlineMs: inAnHour(),
      });
    const write = async () => {
      const [results, users] = await Promise.all([
        inParallel(REMOVERS, [...removed], remove),
        inParallel(LINKERS, upTo(CREATED), (number) => linked(store, linkOf(SELLER, `new-${number}`))),
      ]);
      expect(results).toEqual(Array(REMOVED).fill('removed'));
      return users;
    };
    const writing = write().finally(() => {
      isDone = true;
    });
    [created, seenMeanwhile] = await Promise.all([writing, readMeanwhile()]);
  });

  it('fills every page with the users that remain, in the order of linking', async () => {
    const pages = await readPages();
    const byOrdinal = created.toSorted((a, b) => Number(ordinalOf(a.id)) - Number(ordinalOf(b.id)));
    const remaining = idsOf([...before, ...byOrdinal]).filter((id) => !removed.has(id));
    expect(pages).toEqual(
      upTo(pageOf(remaining.length)).map((page) => remaining.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)),
    );
  });

  it('gives the new users the ordinals 301 to 320', () => {
    const ordinals = created.map(({ id }) => Number(ordinalOf(id))).sort((a, b) => a - b);
    expect(ordinals).toEqual(upTo(CREATED).map((number) => USERS + number));
  });

  it('moved users to earlier pages only', () => {
    expect(seenMeanwhile.length).toBeGreaterThan(0);
    const movedBack = seenMeanwhile.flatMap((pages) =>
      pages.flatMap((ids, index) => ids.filter((id) => pageOf(Number(ordinalOf(id))) < index + 1)),
    );
    expect(movedBack).toEqual([]);
  });

  it('showed users in the order of linking on every page at every moment', () => {
    const pages = seenMeanwhile.flat();
    const ordinals = pages.map((ids) => ids.map((id) => Number(ordinalOf(id))));
    expect(ordinals).toEqual(ordinals.map((page) => page.toSorted((a, b) => a - b)));
  });

  it('counts 260 users on 13 pages', async () => {
    expect(await store.listPage(SELLER, 1, PAGE_SIZE)).toMatchObject({
      total: USERS - REMOVED + CREATED,
      totalPages: 13,
    });
  });

  it('finds each user by its id, and no removed one', async () => {
    const found = await Promise.all(before.map(({ id }) => store.getUser(SELLER, id)));
    expect(found).toEqual(before.map((user) => (removed.has(user.id) ? undefined : user)));
  });

  it('finds every fourth user by its phone, and no removed one', async () => {
    const ordinals = upTo(USERS / 4).map((number) => number * 4);
    const found = await Promise.all(
      ordinals.map((ordinal) =>
        store.findByPhone(SELLER, linkOf(SELLER, `old-${ordinal}`).phone, { page: 1, pageSize: 1 }),
      ),
    );
    const users = ordinals.map((ordinal) => before[ordinal - 1] as User);
    expect(found.map((page) => page.users)).toEqual(
      users.map((user) => (removed.has(user.id) ? [] : [user])),
    );
  });
});
