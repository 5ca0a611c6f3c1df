/** Rules that hold at several operations, tried at each of them. */
import { isDeepStrictEqual } from 'node:util';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { handle as deleteUser } from '#functions/delete-user.ts';
import { handle as getUser } from '#functions/get-user.ts';
import { handle as updateUser } from '#functions/update-user.ts';
import { HOUR_SECONDS } from '#shared/clock.ts';
import { windowOf } from '#shared/rate-limits/limit.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { limitSortKey, limitsPartition } from '#shared/table/keys.ts';
import { ordinalOf, userIdAt } from '#shared/users/user-id.ts';
import { claimsOf, signer } from '#test/fakes/buyer-tokens.ts';
import { canceledFor, noResponse } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { addSellers, createUserUnderTest, newBuyerIn } from './create-user-under-test.ts';
import { callerContext, functionUnderTest } from './harness.ts';
import { outcomeOf } from './outcome.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test', 'sel_other'));

/** A person who is linked, the user, and what a check of the user sends. */
const linkedUser = async () => {
  const person = await newBuyerIn(table);
  const { json: user } = await createUserUnderTest(table).call({ body: person });
  const { display_name, ...claim } = person;
  return { person, user, claim };
};

type Linked = Awaited<ReturnType<typeof linkedUser>>;

/** Each operation on one user of a seller: a request that succeeds, on a table. */
const ON_A_USER = {
  'get-user': (on: Table, { user }: Linked) => ({
    ...functionUnderTest(routes['get-user'], getUser, on, { users: userStore(on) }),
    request: { path: { id: user.id } },
  }),
  'update-user': (on: Table, { user }: Linked) => ({
    ...functionUnderTest(routes['update-user'], updateUser, on, { users: userStore(on) }),
    request: { path: { id: user.id }, body: { display_name: 'Somebody else' } },
  }),
  'delete-user': (on: Table, { user }: Linked) => ({
    ...functionUnderTest(routes['delete-user'], deleteUser, on, { users: userStore(on) }),
    request: { path: { id: user.id } },
  }),
  'check-user': (on: Table, { user, claim }: Linked) => {
    const { check: call, clock } = createUserUnderTest(on);
    clock.advance(120);
    return { call, clock, request: { path: { id: user.id }, body: claim } };
  },
};
type OnAUser = keyof typeof ON_A_USER;
const OPERATIONS = Object.keys(ON_A_USER) as OnAUser[];

const stored = (id: string) => userStore(table).getUser('sel_test', id);

let keys = 0;

/** A key with all scopes that has used up nothing yet. */
const keyOf = (sellerId = 'sel_test') => {
  keys += 1;
  return { ...callerContext, sellerId, keyId: `key_sibling_${keys}` };
};

const removal = { removedAt: '2026-11-21T07:30:00.000Z', reason: 'seller' } as const;

/** What makes of a user an id that names no user of the seller who calls. */
const NO_USER: Readonly<
  Record<string, (of: Linked) => Promise<{ readonly id?: string; readonly sellerId?: string }>>
> = {
  'the ordinal of the user and another random part': async ({ user }) => ({
    id: userIdAt(Number(ordinalOf(user.id)), '0'.repeat(15)),
  }),
  'an ordinal that no user has': async () => ({ id: userIdAt(999_999, '0'.repeat(15)) }),
  'an id with one more character': async ({ user }) => ({ id: `${user.id}0` }),
  'a malformed id': async () => ({ id: 'usr_1' }),
  'a null byte': async () => ({ id: '%00' }),
  'an inherited name': async () => ({ id: '__proto__' }),
  'the id, for another seller': async () => ({ sellerId: 'sel_other' }),
  'the id, after a removal': async ({ user }) => {
    await userStore(table).removeUser('sel_test', user.id, removal);
    return {};
  },
};

/** A user can be checked again a minute after its link: the requests come in this minute. */
const minuteOf = (name: OnAUser) => (name === 'check-user' ? 'minute_2' : 'minute_0');

describe('404', () => {
  // Only the last one changes the user. A second removal is 204.
  const kindsFor = (name: OnAUser) =>
    Object.keys(NO_USER).filter((kind) => name !== 'delete-user' || kind !== 'the id, after a removal');

  it.each(OPERATIONS)(
    'is one and the same user_not_found at %s for every id that names no user of the seller, counts a request only, and changes nothing',
    async (name) => {
      const outcomes = [];
      const bodies = new Set<string>();
      const of = await linkedUser();
      for (const kind of kindsFor(name)) {
        const { id = of.user.id, sellerId } = (await NO_USER[kind]?.(of)) ?? {};
        const before = await stored(of.user.id);
        const { call, clock, request } = ON_A_USER[name](table, of);
        const authorizer = keyOf(sellerId);
        const reply = await call({ ...request, path: { id }, authorizer });
        bodies.add(JSON.stringify(reply.json));
        const outcome = await outcomeOf(table, { keyId: authorizer.keyId, nowMs: clock() }, reply);
        outcomes.push({ kind, ...outcome, isUnchanged: isDeepStrictEqual(await stored(of.user.id), before) });
      }
      expect(outcomes).toEqual(
        kindsFor(name).map((kind) => ({
          kind,
          status: 404,
          code: 'user_not_found',
          rateLimit: expect.stringMatching(/^"professional";r=999;t=60$/),
          retryAfter: undefined,
          counts: { [minuteOf(name)]: 1 },
          isUnchanged: true,
        })),
      );
      expect(bodies.size).toBe(1);
    },
  );
});

describe('a key whose requests of the minute are used up', () => {
  /** Stores that a free key has used up its minute. */
  const usedUpKey = async (name: OnAUser, nowMs: number) => {
    const authorizer = { ...keyOf(), plan: 'free' };
    const Item = {
      pk: limitsPartition(authorizer.keyId),
      sk: limitSortKey('HOUR', windowOf(nowMs, HOUR_SECONDS)),
      [minuteOf(name)]: PLANS.free.requestsPerMinute,
    };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
    return { authorizer, counts: { [minuteOf(name)]: PLANS.free.requestsPerMinute } };
  };

  it.each(OPERATIONS)('gets 429 at %s, which counts nothing and changes nothing', async (name) => {
    const of = await linkedUser();
    const { call, clock, request } = ON_A_USER[name](table, of);
    const { authorizer, counts } = await usedUpKey(name, clock());
    const reply = await call({ ...request, authorizer });
    expect(await outcomeOf(table, { keyId: authorizer.keyId, nowMs: clock() }, reply)).toEqual({
      status: 429,
      code: 'rate_limit_exceeded',
      rateLimit: '"free";r=0;t=60',
      retryAfter: '60',
      counts,
    });
    expect(await stored(of.user.id)).toEqual(of.user);
  });
});

describe('a change whose transaction does not happen', () => {
  const CONFLICT = canceledFor('TransactionConflict');

  it.each([
    ['update-user', 'no response comes', noResponse, '5', 15_000],
    ['delete-user', 'no response comes', noResponse, '5', 15_000],
    ['check-user', 'no response comes', noResponse, '5', 15_000],
    ['update-user', 'other writes conflict until the deadline', CONFLICT, '1', 600],
    ['delete-user', 'other writes conflict until the deadline', CONFLICT, '1', 600],
  ] as const)(
    'is service_unavailable with Retry-After at %s if %s, and changes nothing',
    async (name, _case, error, retryAfter, timeLeftMs) => {
      const of = await linkedUser();
      const failing = interceptedTable(table, ({ name: command }, send) =>
        command === 'TransactWriteCommand' ? Promise.reject(error) : send(),
      );
      const { call, request } = ON_A_USER[name](failing, of);
      const { status, json, headers } = await call({ ...request, authorizer: keyOf(), timeLeftMs });
      expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', retryAfter]);
      expect(await stored(of.user.id)).toEqual(of.user);
    },
  );
});

describe('the day of birth in another form than the stored one', () => {
  const FORMS = ['1370/1/15', '1991/04/04', '۱۳۷۰/۰۱/۱۵', '١٩٩١/٤/٤'];

  it.each(FORMS)('costs no second check at a link and at a check a moment later: %s', async (birth_date) => {
    const { person, user, claim } = await linkedUser();
    const { call, check, paid } = createUserUnderTest(table);
    const replies = [
      await call({ body: { ...person, birth_date } }),
      await check({ path: { id: user.id }, body: { ...claim, birth_date } }),
    ];
    expect(replies.map(({ status, json }) => [status, json])).toEqual([
      [200, user],
      [200, user],
    ]);
    expect(paid).toEqual({ identity: 0, ownership: 0 });
  });

  it.each(FORMS)('finds the links of a buyer: %s', async (birth_date) => {
    const { person } = await linkedUser();
    const { phone, national_id } = person;
    const headers = { Authorization: `Bearer ${await signer.sign(claimsOf(phone))}` };
    const { json } = await buyerAppOn(table).call['find-links']({
      headers,
      body: { national_id, birth_date },
    });
    expect(json.data).toHaveLength(1);
  });
});

describe('an access token whose header and scheme are spelled', () => {
  const SPELLINGS = [
    ['authorization', 'bearer'],
    ['AUTHORIZATION', 'BEARER'],
    ['Authorization', 'Bearer '],
  ] as const;

  /** A linked person, the id of the link, and the header of a sign-in ten seconds later. */
  const signedIn = async (header: string, scheme: string) => {
    const { person } = await linkedUser();
    const app = buyerAppOn(table);
    const { id } = (await app.find(person)).json.data[0];
    const authTime = app.clock() / 1000 + 10;
    const headers = {
      [header]: `${scheme} ${await signer.sign(claimsOf(person.phone, 'sel_test', authTime))}`,
    };
    app.clock.advance(10);
    return { person, app, id, headers };
  };

  it.each(SPELLINGS)('%s: %s lifts an end at a link', async (header, scheme) => {
    const { person, app, id, headers } = await signedIn(header, scheme);
    app.clock.advance(-10);
    await app.end(person.phone, id);
    const { call, clock } = createUserUnderTest(table);
    clock.advance(10);
    expect((await call({ body: person })).json.code).toBe('link_refused');
    expect((await call({ body: person, headers })).status).toBe(201);
  });

  it.each(SPELLINGS)('%s: %s is accepted by the search and by the end of a link', async (header, scheme) => {
    const { person, app, id, headers } = await signedIn(header, scheme);
    const { national_id, birth_date } = person;
    const found = await app.call['find-links']({ headers, body: { national_id, birth_date } });
    expect([found.status, found.json.data[0]?.id]).toEqual([200, id]);
    expect((await app.call['end-link']({ headers, path: { id } })).status).toBe(204);
    expect((await app.find(person)).json.data).toEqual([]);
  });
});
