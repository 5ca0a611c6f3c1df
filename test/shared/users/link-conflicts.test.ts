import { eventsPartition } from '#shared/table/keys.ts';
import { useTable } from '#test/table/use-table.ts';
import {
  canceledFor,
  createSeller,
  findPerson,
  inAnHour,
  itemsOf,
  linked,
  linkOf,
  noResponse,
  resend,
  storeWhose,
} from './linking.ts';
import { type UserStore, userStore } from './user-store.ts';

const table = useTable();
let store: UserStore;

beforeAll(() => {
  store = userStore(table);
});

describe('link after a conflict', () => {
  beforeAll(() => createSeller(table, 'sel_conflict'));

  it('tries again at the ordinal that is free then', async () => {
    const overtaken = storeWhose(table, async (send) => {
      await linked(store, linkOf('sel_conflict', 'overtaker'));
      return send();
    });
    const user = await linked(overtaken, linkOf('sel_conflict', 'overtaken'));
    const { users } = await store.listPage('sel_conflict', 1, 100);
    expect(users.map(({ display_name }) => display_name)).toEqual(['overtaker', 'overtaken']);
    expect(users.at(-1)).toEqual(user);
  });

  it('tries again when the transaction met another one', async () => {
    const conflict = canceledFor('TransactionConflict', 'None', 'None', 'None');
    const user = await linked(
      storeWhose(table, () => Promise.reject(conflict), 5),
      linkOf('sel_conflict', 'persistent'),
    );
    expect(await store.getUser('sel_conflict', user.id)).toEqual(user);
  });

  it('throws service_unavailable after the deadline and stores nothing', async () => {
    const conflict = canceledFor('TransactionConflict', 'None', 'None', 'None');
    const busy = storeWhose(table, () => Promise.reject(conflict), Number.POSITIVE_INFINITY);
    await expect(busy.link(linkOf('sel_conflict', 'late'), performance.now() - 1)).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 5,
      cause: { name: 'WriteConflict' },
    });
    expect(await findPerson(store, 'sel_conflict', 'hash-of-late')).toBeUndefined();
    expect(await itemsOf(table, 'LINKS#phone-of-late')).toEqual([]);
  });

  it('throws an error of the database that is not a conflict', async () => {
    const refused = Object.assign(new Error('no permission'), { $fault: 'client' });
    const broken = storeWhose(table, () => Promise.reject(refused));
    await expect(broken.link(linkOf('sel_conflict', 'refused'), inAnHour())).rejects.toBe(refused);
    expect(await findPerson(store, 'sel_conflict', 'hash-of-refused')).toBeUndefined();
  });
});

describe('link of a seller whose counts are too low', () => {
  it('overwrites no event: it throws an error that is no conflict', async () => {
    await createSeller(table, 'sel_damaged');
    await linked(store, linkOf('sel_damaged', 'first'));
    const events = await itemsOf(table, eventsPartition('sel_damaged'));
    await createSeller(table, 'sel_damaged', { user_count: 1 });
    const link = store.link(linkOf('sel_damaged', 'second'), inAnHour());
    await expect(link).rejects.toThrow(/the condition of action \d+ failed alone/);
    expect(await itemsOf(table, eventsPartition('sel_damaged'))).toEqual(events);
  });
});

describe('link when a response is lost', () => {
  beforeAll(() => createSeller(table, 'sel_lost'));

  it('returns the new user if the response was lost after the write happened', async () => {
    const lossy = storeWhose(table, async (send) => {
      await send();
      throw noResponse;
    });
    const user = await linked(lossy, linkOf('sel_lost', 'lost'));
    expect(await store.getUser('sel_lost', user.id)).toEqual(user);
  });

  it('returns the new user if the same write is sent twice, as the SDK resends it', async () => {
    const resending = storeWhose(table, resend);
    const user = await linked(resending, linkOf('sel_lost', 'resent'));
    expect(await store.getUser('sel_lost', user.id)).toEqual(user);
  });

  it('links the person if the write did not happen', async () => {
    const lossy = storeWhose(table, () => Promise.reject(noResponse));
    const user = await linked(lossy, linkOf('sel_lost', 'retried'));
    expect(await store.getUser('sel_lost', user.id)).toEqual(user);
  });

  it('throws the error if no response comes to the write that is sent again, and a later request links the person', async () => {
    const lossy = storeWhose(table, () => Promise.reject(noResponse), 2);
    await expect(lossy.link(linkOf('sel_lost', 'unreachable'), inAnHour())).rejects.toBe(noResponse);
    expect(await findPerson(store, 'sel_lost', 'hash-of-unreachable')).toBeUndefined();
    await linked(store, linkOf('sel_lost', 'unreachable'));
  });

  it('never treats the link of another request as its own', async () => {
    const lossy = storeWhose(table, async () => {
      await linked(store, linkOf('sel_lost', 'contested'));
      throw noResponse;
    });
    expect(await lossy.link(linkOf('sel_lost', 'contested'), inAnHour())).toEqual({
      written: false,
      reason: 'person_changed',
    });
  });
});
