import '#test/slow-time.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { User, UserUpdate } from '#shared/users/schema.ts';
import { useTable } from '#test/table/use-table.ts';
import { createSeller, itemsOf, linked, linkOf, storeWhose, withExternalId } from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const SELLER = 'sel_update';
const UPDATED_AT = '2026-11-21T09:00:00.000Z';

const table = useTable();
let store: UserStore;

beforeAll(async () => {
  store = userStore(table);
  await createSeller(table, SELLER);
});

const newUser = (person: string, externalId?: string) =>
  linked(store, withExternalId(linkOf(SELLER, person), externalId));

const update = (id: string, changes: UserUpdate, by: UserStore = store) =>
  by.updateUser(SELLER, id, { update: changes, updatedAt: UPDATED_AT });

const eventCount = async () => (await itemsOf(table, `EVENTS#${SELLER}`)).length;

/** Reads a user in all four ways, and fails unless they agree. */
const readAllWays = async (id: string): Promise<User | undefined> => {
  const user = await store.getUser(SELLER, id);
  const { users } = await store.listPage(SELLER, 1, 100);
  expect(users.find((listed) => listed.id === id)).toEqual(user);
  const phone = user?.phone.replace('+98999-', '') ?? '';
  const byPhone = await store.findByPhone(SELLER, new KeyedHash(`phone-of-${phone}`), {
    page: 1,
    pageSize: 9,
  });
  expect(byPhone.users.find((found) => found.id === id)).toEqual(user);
  const externalIds = (await itemsOf(table, `EXTERNAL#${SELLER}`)).filter(({ user_id }) => user_id === id);
  expect(externalIds.map(({ pk }) => pk)).toEqual(
    user?.external_id ? [`EXTERNAL#${SELLER}#${user.external_id}`] : [],
  );
  if (user?.external_id) expect(await store.findByExternalId(SELLER, user.external_id)).toEqual(user);
  return user;
};

describe('updateUser', () => {
  it('changes the name and the external id for every way of reading, and writes an event without them', async () => {
    const user = await newUser('plain', 'order:1');
    const before = await eventCount();
    const value = { ...user, display_name: 'Plain Ahmadi', external_id: 'order:2' };
    const changes = { display_name: 'Plain Ahmadi', external_id: 'order:2' };
    expect(await update(user.id, changes)).toEqual({ written: true, value });
    expect(await readAllWays(user.id)).toEqual(value);
    expect(await store.findByExternalId(SELLER, 'order:1')).toBeUndefined();
    const events = await itemsOf(table, `EVENTS#${SELLER}`);
    expect(events).toHaveLength(before + 1);
    const event = events.find(({ type, user_id }) => type === 'user.updated' && user_id === user.id);
    expect(event).toMatchObject({ occurred_at: UPDATED_AT });
    expect(JSON.stringify(event)).not.toMatch(/Plain|order/);
  });

  it('keeps the change of another request that came between its read and its write', async () => {
    const user = await newUser('overtaken');
    const overtaken = storeWhose(table, async (send) => {
      await update(user.id, { external_id: 'order:overtaker' });
      return send();
    });
    await update(user.id, { display_name: 'Overtaken Ahmadi' }, overtaken);
    expect(await readAllWays(user.id)).toEqual({
      ...user,
      display_name: 'Overtaken Ahmadi',
      external_id: 'order:overtaker',
    });
  });

  it('succeeds if another request gives the user the same external id between its read and its write', async () => {
    const user = await newUser('same');
    const changes = { external_id: 'order:same' };
    const overtaken = storeWhose(table, async (send) => {
      await update(user.id, changes);
      return send();
    });
    const value = { ...user, ...changes };
    expect(await update(user.id, changes, overtaken)).toEqual({ written: true, value });
    expect(await readAllWays(user.id)).toEqual(value);
  });

  it('refuses an external id that another user takes between its read and its write, and changes nothing', async () => {
    const [user, other] = [await newUser('too-late'), await newUser('first')];
    const overtaken = storeWhose(table, async (send) => {
      await update(other.id, { external_id: 'order:one' });
      return send();
    });
    const changes = { display_name: 'Late Ahmadi', external_id: 'order:one' };
    const result = await update(user.id, changes, overtaken);
    expect(result).toEqual({ written: false, reason: 'external_id_conflict' });
    expect(await readAllWays(user.id)).toEqual(user);
  });
});
