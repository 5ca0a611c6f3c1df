/** Every operation that takes a phone, a person or a link id, with data that was stored under an older key of the hash secret. */
import { eraseBuyer, readBuyerData, unlockBuyer } from '#admin/operations/buyers.ts';
import { findByPhone } from '#admin/operations/users.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { handle as listUsers } from '#functions/list-users.ts';
import { handle as sendOtp } from '#functions/send-otp.ts';
import { handle as verifyOtp } from '#functions/verify-otp.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { codeSends, codeTries } from '#shared/one-time-codes/store.ts';
import type { RouteName } from '#shared/routes.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { type KeyedHashes, keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { User } from '#shared/users/schema.ts';
import { type TestAdministration, useAdministration } from '#test/admin/operations/use-administration.ts';
import { bearerOf, ISSUER, signer } from '#test/fakes/buyer-tokens.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { type NewUser, newPerson } from '#test/generated-people.ts';
import { codesOn } from '#test/shared/one-time-codes/codes-on.ts';
import { createSeller, itemsOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { createUserUnderTest } from './create-user-under-test.ts';
import { callerContext, functionUnderTest } from './harness.ts';
import { linkPerson } from './users-on.ts';

const [NEW, MIDDLE, OLDEST] = ['n', 'm', 'o'].map((letter) => letter.repeat(40)) as [string, string, string];
const under = (current: string, ...previous: string[]): KeyedHashes =>
  keyedHashesFrom(fixedSecret(JSON.stringify({ current, previous })));

/** What the functions use now. */
const hashes = under(NEW, MIDDLE, OLDEST);

const SELLER = 'sel_test';
const CODE = '493027';

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeAll(async () => {
  deployment = await newAdministration();
  await createSeller(deployment.table, SELLER);
});

/** A registered buyer, whom the seller has linked: everything under one older key. */
interface Stored {
  readonly older: KeyedHashes;
  readonly person: NewUser;
  readonly user: User;
  /** A registered buyer whom nobody has linked. */
  readonly stranger: NewUser;
}

const store = async (older: KeyedHashes): Promise<Stored> => {
  const { table } = deployment;
  const [person, stranger] = [newPerson(), newPerson()];
  for (const { phone } of [person, stranger]) {
    const { current } = await older.phone(phone);
    await buyerStore(table).register(current, await hashes.buyerId(phone), '2026-11-01T10:00:00.000Z');
  }
  const user = await linkPerson(table, SELLER, person, older);
  return { older, person, user, stranger };
};

const links = () => createUserUnderTest(deployment.table, { deps: (own) => ({ ...own, hashes }) });

const buyerApp = (by = hashes) => buyerAppOn(deployment.table, by);

const linkIdOf = async (person: NewUser, by = hashes): Promise<string> =>
  (await buyerApp(by).find(person)).json.data[0].id;

const bodyOf = ({ national_id, birth_date, phone }: NewUser) => ({ national_id, birth_date, phone });

const sends = () => {
  const { table } = deployment;
  return functionUnderTest(routes['send-otp'], sendOtp, table, {
    codes: codeSends(table),
    newCode: () => CODE,
    hashes,
    smsProvider: 'first',
    smsPerDay: undefined,
    sms: { sendCode: async () => ({ provider: 'first' }) },
  });
};

const verifies = () => {
  const { table } = deployment;
  const own = {
    codes: codeTries(table),
    tableName: table.name,
    hashes,
    signer,
    tokenIssuer: ISSUER,
    inSandbox: false,
  };
  return functionUnderTest(routes['verify-otp'], verifyOtp, table, own);
};

/** Stores a code of the seller under an older key, with failed tries. */
const storeCode = async ({ older, person: { phone } }: Stored, failures: number): Promise<void> => {
  const codes = codesOn(deployment.table);
  const now = Math.floor(verifies().clock() / 1000);
  const owner = { phoneHash: (await older.phone(phone)).current, audience: SELLER };
  await codes.send(owner, await older.codeMac({ phone, audience: SELLER, code: CODE }, 'salt'), now);
  await codes.fail(owner, failures, now);
};

const end = async ({ older, person }: Stored): Promise<void> => {
  await buyerApp(older).end(person.phone, await linkIdOf(person, older));
};

/** Seconds after the end of a link. */
const LATER = Math.floor(Date.parse('2026-11-21T08:00:00Z') / 1000) + 5;

interface Case {
  readonly operation: RouteName | 'admin';
  readonly guarantee: string;
  readonly result: (stored: Stored) => Promise<unknown>;
  readonly expected: (stored: Stored) => unknown;
}

const cases: readonly Case[] = [
  {
    operation: 'create-user',
    guarantee: 'returns the linked user without a paid check',
    async result({ person }) {
      const { call, paid } = links();
      const { status, json } = await call({ body: person });
      return [status, json, paid.identity];
    },
    expected: ({ user }) => [200, user, 0],
  },
  {
    operation: 'create-user',
    guarantee: 'refuses the linked person with another phone',
    result: async ({ person, stranger }) =>
      (await links().call({ body: { ...person, phone: stranger.phone } })).json,
    expected: ({ user }) => expect.objectContaining({ code: 'user_conflict', user_id: user.id }),
  },
  {
    operation: 'create-user',
    guarantee: 'links the person again after a later sign-in, and leaves nothing of the end behind',
    async result(stored) {
      await end(stored);
      const { call, clock } = links();
      clock.advance(10);
      const headers = await bearerOf(stored.person.phone, SELLER, LATER);
      const { status } = await call({ body: stored.person, headers });
      const ends = (await itemsOf(deployment.table, '')).filter(
        ({ ended_at, phone_hash }) => ended_at !== undefined && phone_hash !== undefined,
      );
      const ofPhone = (await stored.older.phone(stored.person.phone)).current;
      return [status, ends.filter(({ phone_hash }) => phone_hash === ofPhone)];
    },
    expected: () => [201, []],
  },
  {
    operation: 'check-user',
    guarantee: 'checks the user again, and keeps the link that the buyer sees',
    async result({ person, user }) {
      const id = await linkIdOf(person);
      const { status } = await links().check({ path: { id: user.id }, body: bodyOf(person) });
      return [status, (await linkIdOf(person)) === id];
    },
    expected: () => [200, true],
  },
  {
    operation: 'check-user',
    guarantee: 'gives the user the phone of a registered buyer, and leaves no link of the other',
    async result({ older, person, stranger, user }) {
      const body = { ...bodyOf(person), phone: stranger.phone };
      const { json } = await links().check({ path: { id: user.id }, body });
      const { current } = await older.phone(person.phone);
      return [json.phone, await itemsOf(deployment.table, `LINKS#${current}`)];
    },
    expected: ({ stranger }) => [stranger.phone, []],
  },
  {
    operation: 'check-user',
    guarantee: 'refuses a national id of somebody else',
    result: async ({ stranger, user }) =>
      (await links().check({ path: { id: user.id }, body: bodyOf(stranger) })).json.code,
    expected: () => 'user_conflict',
  },
  {
    operation: 'list-users',
    guarantee: 'finds the user by phone',
    async result({ person: { phone } }) {
      const { table } = deployment;
      const list = functionUnderTest(routes['list-users'], listUsers, table, {
        users: userStore(table),
        hashes,
      });
      return (await list.call({ query: { phone } })).json.data;
    },
    expected: ({ user }) => [user],
  },
  {
    operation: 'find-links',
    guarantee: 'shows the buyer its link',
    result: async ({ person }) => (await buyerApp().find(person)).json.data,
    expected: ({ user }) => [expect.objectContaining({ display_name: user.display_name })],
  },
  {
    operation: 'end-link',
    guarantee: 'ends the link by the id that it shows now',
    async result({ person, user }) {
      const { status } = await buyerApp().end(person.phone, await linkIdOf(person));
      return [status, await userStore(deployment.table).getUser(SELLER, user.id)];
    },
    expected: () => [204, undefined],
  },
  {
    operation: 'end-link',
    guarantee: 'ends the link by the id that it showed before, and the outstanding code with it',
    async result(stored) {
      const { person, user, older } = stored;
      await storeCode(stored, 0);
      const { status } = await buyerApp().end(person.phone, await linkIdOf(person, older));
      const owner = { phoneHash: (await older.phone(person.phone)).current, audience: SELLER };
      const { code } = await codesOn(deployment.table).record(owner);
      return [status, await userStore(deployment.table).getUser(SELLER, user.id), code];
    },
    expected: () => [204, undefined, undefined],
  },
  {
    operation: 'send-otp',
    guarantee: 'counts sends from 0, as the runbook of a rotation says',
    async result(stored) {
      await storeCode(stored, 0);
      return (await sends().call({ body: { phone: stored.person.phone } })).status;
    },
    expected: () => 202,
  },
  {
    operation: 'verify-otp',
    guarantee: 'rejects the code that is outstanding, as the runbook of a rotation says',
    async result(stored) {
      await storeCode(stored, 0);
      return (await verifies().call({ body: { phone: stored.person.phone, code: CODE } })).json.code;
    },
    expected: () => 'code_rejected',
  },
  {
    operation: 'verify-otp',
    guarantee: 'signs in and registers a buyer who is registered already, under the same id',
    async result({ person: { phone } }) {
      await sends().call({ body: { phone } });
      const { status } = await verifies().call({ body: { phone, code: CODE }, authorizer: callerContext });
      const found = await adminBuyerStore(deployment.table).find(await hashes.phone(phone));
      return [status, found?.buyer_id === (await hashes.buyerId(phone))];
    },
    expected: () => [200, true],
  },
  {
    operation: 'admin',
    guarantee: 'finds users by phone',
    result: async ({ person }) => findByPhone(deployment.admin, [SELLER], await hashes.phone(person.phone)),
    expected: ({ user }) => [{ seller_id: SELLER, ...user }],
  },
  {
    operation: 'admin',
    guarantee: 'shows what is stored about a phone',
    async result(stored) {
      await storeCode(stored, 1);
      const { isRegistered, links, codes } = await readBuyerData(
        deployment.admin,
        await hashes.phone(stored.person.phone),
      );
      return [isRegistered, links.length, codes.length];
    },
    expected: () => [true, 1, 1],
  },
  {
    operation: 'admin',
    guarantee: 'registers no registered buyer a second time',
    async result({ person: { phone } }) {
      const buyer = { phone: await hashes.phone(phone), buyerId: await hashes.buyerId(phone) };
      const buyers = adminBuyerStore(deployment.table);
      const record = deployment.admin.record({ action: 'buyer.added' });
      return (await buyers.register(buyer, record)).isNew;
    },
    expected: () => false,
  },
  {
    operation: 'admin',
    guarantee: 'unlocks a phone',
    async result(stored) {
      await storeCode(stored, 2);
      return unlockBuyer(deployment.admin, await hashes.phone(stored.person.phone));
    },
    expected: () => 1,
  },
  {
    operation: 'admin',
    guarantee: 'erases everything about a phone but the hashes that an import needs',
    async result(stored) {
      const { older, person } = stored;
      await storeCode(stored, 1);
      const counts = await eraseBuyer(deployment.admin, await hashes.phone(person.phone));
      const { current } = await older.phone(person.phone);
      const left = (await itemsOf(deployment.table, '')).filter((item) =>
        JSON.stringify(item).includes(current),
      );
      return [counts, left.map(({ action }) => action)];
    },
    expected: () => [{ sellers: 1, users: 1, codes: 1, registrations: 1 }, ['buyer.erase_started']],
  },
];

it('has a case for every operation that hashes what it is sent', () => {
  const hashing = allRoutes.filter(({ permissions }) => permissions.hashes === true).map(({ name }) => name);
  const tested = new Set(cases.map(({ operation }) => operation));
  tested.delete('admin');
  expect([...tested].sort()).toEqual([...hashing].sort());
});

/** That every older key is read, in which order: test/shared/secrets/keyed-hashes.test.ts. */
describe('data under the oldest of two older keys', () => {
  it.each(cases)('$operation $guarantee', async ({ result, expected }) => {
    const stored = await store(under(OLDEST));
    expect(await result(stored)).toEqual(expected(stored));
  });
});
