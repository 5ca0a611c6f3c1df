import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { User, UserUpdate } from '#shared/users/schema.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
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
  await createSeller(table, 'sel_other');
});

const newUser = (person: string, externalId?: string) =>
  linked(store, withExternalId(linkOf(SELLER, person), externalId));

const update = (id: string, changes: UserUpdate, by: UserStore = store) =>
  by.updateUser(SELLER, id, { update: changes, updatedAt: UPDATED_AT });

const remove = (id: string) => store.removeUser(SELLER, id, { removedAt: UPDATED_AT, reason: 'seller' });

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

  it('is repeated with the counts that the failed condition returned, without a wait or a read, after a first conflict', async () => {
    const [user, other] = [await newUser('waiting'), await newUser('busy-other')];
    let overtakers = 2;
    const calls: string[] = [];
    const overtaken = interceptedTable(table, async ({ name }, send) => {
      calls.push(name.replace('Command', ''));
      if (name !== 'TransactWriteCommand' || overtakers === 0) return send();
      overtakers -= 1;
      await update(other.id, { display_name: `Busy ${overtakers}` });
      return send();
    });
    await update(user.id, { display_name: 'Waited' }, userStore(overtaken));
    expect(calls).toEqual(['BatchGet', 'TransactWrite', 'BatchGet', 'TransactWrite', 'TransactWrite']);
    expect(await readAllWays(user.id)).toMatchObject({ display_name: 'Waited' });
  });
});

describe('20 corrections at once', () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index);

  it('of one user all succeed and end in one state on which all ways of reading agree', async () => {
    const user = await newUser('busy', 'order:busy');
    const results = await Promise.all(
      numbers.map((number) =>
        update(user.id, { display_name: `Busy ${number}`, external_id: `busy:${number % 7}` }),
      ),
    );
    expect(results.every(({ written }) => written)).toBe(true);
    const final = await readAllWays(user.id);
    const number = Number(final?.display_name.slice('Busy '.length));
    expect(final?.external_id).toBe(`busy:${number % 7}`);
  });

  it('give an external id to one of 20 users', async () => {
    await createSeller(table, 'sel_twenty');
    const users: User[] = [];
    for (const number of numbers) users.push(await linked(store, linkOf('sel_twenty', `twenty-${number}`)));
    const options = { update: { external_id: 'order:one' }, updatedAt: UPDATED_AT };
    const results = await Promise.all(users.map(({ id }) => store.updateUser('sel_twenty', id, options)));
    expect(results.filter(({ written }) => written)).toHaveLength(1);
    const { users: listed } = await store.listPage('sel_twenty', 1, 100);
    const holders = listed.filter(({ external_id }) => external_id === 'order:one');
    expect(holders).toEqual([await store.findByExternalId('sel_twenty', 'order:one')]);
  });
});

describe('a correction beside a removal', () => {
  it('succeeds before it or finds no user after it, and leaves nothing of the user', async () => {
    for (let round = 0; round < 10; round += 1) {
      const user = await newUser(`race-${round}`, `race:${round}`);
      const [removal, correction] = await Promise.all([
        remove(user.id),
        update(user.id, { external_id: `raced:${round}` }),
      ]);
      expect(removal).toBe('removed');
      expect([true, 'user_not_found']).toContain(correction.written || correction.reason);
      expect(await readAllWays(user.id)).toBeUndefined();
      expect(JSON.stringify(await itemsOf(table, ''))).not.toContain(`race-${round}"`);
    }
  });
});
