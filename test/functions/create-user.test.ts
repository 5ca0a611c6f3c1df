import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { notWritten } from '#shared/table/writes.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { useTable } from '#test/table/use-table.ts';
import {
  addSellers,
  createUserUnderTest,
  newBuyerIn,
  type RegistryResults,
} from './create-user-under-test.ts';

const table = useTable();
beforeAll(async () => {
  await addSellers(table, 'sel_test');
});

const createUser = (registry: RegistryResults = {}) => createUserUnderTest(table, { registry });
const newBuyer = () => newBuyerIn(table);

const itemsWithPrefix = async (prefix: string) => {
  const { Items = [] } = await table.client.send(new ScanCommand({ TableName: table.name }));
  return Items.filter((item) => String(item.pk).startsWith(prefix));
};

describe('201', () => {
  it('returns the new user with its national id masked, its phone in E.164 and its birth date un-padded', async () => {
    const person = await newBuyer();
    const sent = {
      ...person,
      phone: `0${person.phone.slice(3)}`,
      birth_date: '1370/01/05',
      display_name: '  Sara  ',
    };
    const { status, json } = await createUser().call({ body: sent });
    expect(status).toBe(201);
    expect(json).toEqual({
      id: expect.stringMatching(/^usr_[0-9A-Za-z]{22}$/),
      external_id: null,
      national_id: `******${person.national_id.slice(-4)}`,
      birth_date: '1370/1/5',
      phone: person.phone,
      display_name: 'Sara',
      created_at: '2026-11-21T08:00:00.000Z',
      checked_at: '2026-11-21T08:00:00.000Z',
    });
  });

  it('is the response, with a new check and a new id, when the user is removed between the two reads that find it', async () => {
    const person = await newBuyer();
    const first = await createUser().call({ body: person });
    const removal = {
      removedAt: '2026-11-21T08:00:00.000Z',
      reason: 'seller' as const,
    };
    const { call, paid } = createUserUnderTest(table, {
      deps: (deps) => ({
        ...deps,
        users: {
          ...deps.users,
          getUser: async (sellerId, userId) => {
            await userStore(table).removeUser(sellerId, userId, removal);
            return deps.users.getUser(sellerId, userId);
          },
        },
      }),
    });
    const { status, json } = await call({ body: person });
    expect(status).toBe(201);
    expect(json.id).not.toBe(first.json.id);
    expect(paid).toEqual({ identity: 1, ownership: 1 });
  });

  it.each(['Basic c2VsbGVyOnNlY3JldA==', 'Bearer blk_test_abc', 'bearer blk_live_abc', 'blk_test_abc'])(
    'is the response beside Authorization: %s, which is no token',
    async (authorization) => {
      const { status } = await createUser().call({ body: await newBuyer(), headers: { authorization } });
      expect(status).toBe(201);
    },
  );
});

describe('200', () => {
  it('returns the existing user when the same link is sent again, without a paid check', async () => {
    const person = await newBuyer();
    const first = await createUser().call({ body: person });
    const { paid, call } = createUser();
    const again = await call({ body: { ...person, birth_date: '1370/01/15', display_name: 'Another name' } });
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });
});

describe('503', () => {
  it('has its cause in the log: the provider, the operation and the reason', async () => {
    const { call, lines } = createUser({ identity: unavailableBecause('quota') });
    await call({ body: await newBuyer() });
    const completed = lines
      .map((line) => JSON.parse(line))
      .find(({ event }) => event === 'request_completed');
    expect(completed).toMatchObject({
      status: 503,
      code: 'verification_unavailable',
      cause_provider: 'fake',
      cause_operation: 'identity',
      cause_reason: 'quota',
    });
  });
});

describe('what changes while a link is made', () => {
  it('is decided again from the first read, at the cost of one check, at most three times, also after the last check of a minute', async () => {
    const body = await newBuyer();
    let links = 0;
    const { call, paid, registry } = createUserUnderTest(table, {
      registry: { identity: unavailableBecause('upstream') },
      deps: (deps) => ({
        ...deps,
        users: {
          ...deps.users,
          link: async (...args) => {
            links += 1;
            return links < 3 ? notWritten('person_changed' as const) : deps.users.link(...args);
          },
        },
      }),
    });
    for (const _ of [1, 2, 3, 4]) await call({ body });
    registry.identity = 'matched';
    expect((await call({ body })).status).toBe(201);
    expect([links, paid.identity]).toEqual([3, 5]);
  });

  it('is service_unavailable with Retry-After after the third time, and the next request links the person', async () => {
    const body = await newBuyer();
    const { call, paid } = createUserUnderTest(table, {
      deps: (deps) => ({ ...deps, users: { ...deps.users, link: async () => notWritten('buyer_gone') } }),
    });
    const { status, json, headers } = await call({ body });
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '1']);
    expect(paid).toEqual({ identity: 1, ownership: 1 });
    expect((await createUser().call({ body })).status).toBe(201);
  });
});

describe('what is stored and logged', () => {
  it('holds no national id, no birth date of a failed check, and no phone in a key', async () => {
    const person = { ...(await newBuyer()), birth_date: '1367/7/7' };
    const { call, lines, registry } = createUser({ identity: 'not_found' });
    await call({ body: person });
    const counts = JSON.stringify(await itemsWithPrefix('LIMIT#person:sel_test#'));
    expect(counts).toContain('failed-checks');
    expect(counts).not.toContain('1988-09-29');
    registry.identity = 'matched';
    await call({ body: person });
    const items = await itemsWithPrefix('');
    expect(JSON.stringify(items)).toContain('1988-09-29');
    expect(JSON.stringify(items)).not.toContain(person.national_id);
    expect(JSON.stringify(items.map(({ pk, sk }) => [pk, sk]))).not.toContain(person.phone.slice(-9));
    expect(lines.join()).toContain('request_completed');
    expect(lines.join()).not.toContain(person.phone.slice(-9));
  });
});
