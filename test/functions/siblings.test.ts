/** Rules that hold at several operations, tried at each of them. */
import { handle as deleteUser } from '#functions/delete-user.ts';
import { handle as getUser } from '#functions/get-user.ts';
import { handle as updateUser } from '#functions/update-user.ts';
import { routes } from '#shared/routes.ts';
import { ordinalOf, userIdAt } from '#shared/users/user-id.ts';
import { claimsOf, signer } from '#test/fakes/buyer-tokens.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { useTable } from '#test/table/use-table.ts';
import { buyerAppOn } from './buyer-links-under-test.ts';
import { addSellers, createUserUnderTest, newBuyerIn } from './create-user-under-test.ts';
import { functionUnderTest } from './harness.ts';
import { outcomeOf } from './outcome.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test'));

/** A person who is linked, the user, and what a check of the user sends. */
const linkedUser = async () => {
  const person = await newBuyerIn(table);
  const { json: user } = await createUserUnderTest(table).call({ body: person });
  const { display_name, ...claim } = person;
  return { person, user, claim };
};

describe('an id with the ordinal of a user and another random part', () => {
  const users = () => ({ users: userStore(table) });
  const OPERATIONS = {
    'get-user': () => functionUnderTest(routes['get-user'], getUser, table, users()),
    'update-user': () => functionUnderTest(routes['update-user'], updateUser, table, users()),
    'delete-user': () => functionUnderTest(routes['delete-user'], deleteUser, table, users()),
    'check-user': () => {
      const { check: call, clock } = createUserUnderTest(table);
      return { call, clock };
    },
  };
  const BODIES = { 'update-user': { display_name: 'Somebody else' } };

  it.each(Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[])(
    'is user_not_found at %s, counts a request only, and changes nothing',
    async (name) => {
      const { user, claim } = await linkedUser();
      const path = { id: userIdAt(Number(ordinalOf(user.id)), '0'.repeat(15)) };
      const { call, clock } = OPERATIONS[name]();
      const bodies: Record<string, object> = { ...BODIES, 'check-user': claim };
      const keyId = `key_${name}`;
      const authorizer = {
        sellerId: 'sel_test',
        keyId,
        plan: 'professional',
        scopes: 'users:write users:read',
      };
      const reply = await call({ path, body: bodies[name], authorizer });
      expect(await outcomeOf(table, { keyId, nowMs: clock() }, reply)).toEqual({
        status: 404,
        code: 'user_not_found',
        rateLimit: '"professional";r=999;t=60',
        retryAfter: undefined,
        counts: { minute_0: 1 },
      });
      expect(await userStore(table).getUser('sel_test', user.id)).toEqual(user);
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
