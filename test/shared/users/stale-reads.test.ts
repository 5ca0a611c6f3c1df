/** Changes whose reads are no snapshot: one item is read from before another change, another item from after it. */
import '#test/slow-time.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import type { User } from '#shared/users/schema.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, itemsOf, linked, linkOf, withExternalId } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const SELLER = 'sel_stale';
const AT = '2026-11-21T09:00:00.000Z';

const table = useTable();
let store: UserStore;

beforeAll(async () => {
  store = userStore(table);
  await createSeller(table, SELLER);
});

const newUser = (person: string): Promise<User> =>
  linked(store, withExternalId(linkOf(SELLER, person), `order:${person}`));

const remove = ({ id }: User, by = store) => by.removeUser(SELLER, id, { removedAt: AT, reason: 'seller' });

const correct = ({ id }: User, update: { display_name?: string; external_id?: string }, by = store) =>
  by.updateUser(SELLER, id, { update, updatedAt: AT });

type Response = { Responses: Record<string, StoredItem[]> };

/** A store whose first batch reads the items of `stale` before `change`, and the others after it. */
const reading = (stale: readonly ItemPrefix[], change: () => Promise<unknown>): UserStore => {
  let isFirst = true;
  const isStale = ({ pk }: StoredItem) => stale.some((prefix) => String(pk).startsWith(prefix));
  const on = interceptedTable(table, async ({ name }, send) => {
    if (name !== 'BatchGetCommand' || !isFirst) return send();
    isFirst = false;
    const before = (await send()) as Response;
    await change();
    const after = (await send()) as Response;
    const items = [
      ...(before.Responses[table.name] ?? []).filter(isStale),
      ...(after.Responses[table.name] ?? []).filter((item) => !isStale(item)),
    ];
    return { Responses: { [table.name]: items } };
  });
  return userStore(on);
};

/** Checks that the pages, the counts and the index of removals agree, and that a person who is not listed left nothing. */
const expectWhole = async (linkedUsers: readonly User[], people: readonly string[]) => {
  const { users, total } = await store.listPage(SELLER, 1, 100);
  expect(users.map(({ id }) => id)).toEqual(linkedUsers.map(({ id }) => id));
  expect(total).toBe(users.length);
  for (const [index, { id }] of users.entries()) {
    expect((await store.listPage(SELLER, index + 1, 1)).users).toMatchObject([{ id }]);
  }
  const names = new Set(users.map(({ display_name }) => display_name));
  const text = JSON.stringify((await itemsOf(table, '')).filter(({ pk }) => !/^EVENTS/.test(String(pk))));
  for (const person of people)
    expect([person, text.includes(`-${person}"`)]).toEqual([person, names.has(person)]);
};

describe('a correction that reads the user before another change and the seller after it', () => {
  it('does not bring back a user who was removed', async () => {
    const user = await newUser('removed');
    const late = reading(['USERS#'], () => remove(user));
    const result = await correct(user, { display_name: 'Back', external_id: 'order:back' }, late);
    expect(result).toEqual({ written: false, reason: 'user_not_found' });
    expect(await store.findByExternalId(SELLER, 'order:back')).toBeUndefined();
    await expectWhole([], ['removed']);
  });

  it('does not undo another correction', async () => {
    const user = await newUser('twice');
    const late = reading(['USERS#'], () => correct(user, { external_id: 'order:other' }));
    await correct(user, { display_name: 'Twice Ahmadi' }, late);
    const value = { ...user, display_name: 'Twice Ahmadi', external_id: 'order:other' };
    expect(await store.findByExternalId(SELLER, 'order:other')).toEqual(value);
    await remove(user);
  });
});

describe('a removal that reads one item before another change and the others after it', () => {
  it('leaves no external id that a correction wrote', async () => {
    const user = await newUser('pointer');
    const late = reading(['USERS#'], () => correct(user, { external_id: 'order:new' }));
    expect(await remove(user, late)).toBe('removed');
    await linked(store, withExternalId(linkOf(SELLER, 'heir'), 'order:new'));
    const heir = await store.findByExternalId(SELLER, 'order:new');
    await expectWhole([heir as User], ['pointer']);
    await remove(heir as User);
  });

  it.each([
    ['the block and the summary', ['REMOVALS#']],
    ['the user and the tombstone', ['USERS#', 'REMOVED#']],
  ] as const)(
    'loses no removal of another user from the index if it reads %s before',
    async (_what, stale) => {
      const first = await newUser('first');
      const [one, other, kept] = [await newUser('one'), await newUser('other'), await newUser('kept')];
      const late = reading(stale, () => remove(other));
      expect(await remove(one, late)).toBe('removed');
      await expectWhole([first, kept], ['one', 'other']);
      await remove(first);
      await remove(kept);
    },
  );

  it.each([
    ['the tombstone before and the user after', ['REMOVED#']],
    ['the user before and the tombstone after', ['USERS#']],
    ['both before', ['USERS#', 'REMOVED#']],
  ] as const)('returns already_removed for the same id if it reads %s', async (_what, stale) => {
    const user = await newUser('repeated');
    expect(
      await remove(
        user,
        reading(stale, () => remove(user)),
      ),
    ).toBe('already_removed');
    await expectWhole([], ['repeated']);
  });
});
