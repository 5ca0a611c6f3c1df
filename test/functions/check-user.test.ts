import type { Table } from '#shared/table/client.ts';
import { phoneLinksPartition } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import { notWritten } from '#shared/table/writes.ts';
import { type NewUser, newPerson } from '#test/generated-people.ts';
import { itemsOf } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { testHashes } from './create-user-deps.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';

const table = useTable();
const store = () => userStore(table);
beforeAll(() => addSellers(table, 'sel_test'));

const NOT_CHECKED = { identity: 0, ownership: 0 };
const CHECKED_ONCE = { identity: 1, ownership: 1 };
const LONG_DEADLINE = { timeLeftMs: 60_000 };

const claimOf = ({ national_id, birth_date, phone }: NewUser) => ({ national_id, birth_date, phone });

/** A user that was linked two minutes ago, and the function with nothing paid yet. */
const linkedUser = async (options: Parameters<typeof createUserUnderTest>[1] = {}, on: Table = table) => {
  const person = await newBuyerIn(table);
  const { json: user } = await createUserUnderTest(table).call({ body: person, authorizer: newKey() });
  const under = createUserUnderTest(on, options);
  under.clock.advance(120);
  const path = { id: user.id as string };
  const check = (change: object = {}, call: object = {}) =>
    under.check({ path, body: { ...claimOf(person), ...change }, authorizer: newKey(), ...call });
  return { ...under, person, user, path, check };
};

const stored = (id: string) => store().getUser('sel_test', id);
const eventsOf = async (id: string) =>
  (await itemsOf(table, 'EVENTS#sel_test')).filter(({ user_id }) => user_id === id).map(({ type }) => type);
const linksOf = async (phone: string) => {
  const pk = phoneLinksPartition((await testHashes.phone(phone)).current);
  return (await queryAll(table, { pk })).map(({ user_id }) => user_id);
};

describe('200', () => {
  it('returns the user as it is stored, with the time of the check and the phone and birth date of the request', async () => {
    const { check, person, user, paid } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    const sent = { phone: `0${phone.slice(3)}`, birth_date: '1991/04/04' };
    const { status, json } = await check(sent);
    const expected = { ...user, phone, birth_date: '1991/4/4', checked_at: '2026-11-21T08:02:00.000Z' };
    expect([status, json]).toEqual([200, expected]);
    expect(await stored(user.id)).toEqual(expected);
    expect(paid).toEqual(CHECKED_ONCE);
    expect(await eventsOf(user.id)).toEqual(['user.linked', 'user.updated']);
    expect([await linksOf(person.phone), await linksOf(phone)]).toEqual([[], [user.id]]);
  });

  it('makes a link with the new data the repetition, and one with the old phone or the old birth date a conflict', async () => {
    const { check, call, person, user } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    const changed = { phone, birth_date: '1370/1/16' };
    await check(changed);
    const again = await call({ body: { ...person, ...changed } });
    expect([again.status, again.json.id]).toEqual([200, user.id]);
    const conflict = { code: 'user_conflict', user_id: user.id };
    for (const old of [{ phone: person.phone }, { birth_date: person.birth_date }])
      expect((await call({ body: { ...person, ...changed, ...old } })).json).toMatchObject(conflict);
  });

  it('is the response to five of 20 identical requests at once at most; the others get it, or too_many_attempts until the next minute', async () => {
    const { check, paid, user, clock } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    const replies = await Promise.all(Array.from({ length: 20 }, () => check({ phone }, LONG_DEADLINE)));
    const shown = replies.filter(({ status }) => status === 200);
    expect(new Set(shown.map(({ json }) => JSON.stringify(json))).size).toBe(1);
    expect(shown[0]?.json).toMatchObject({ id: user.id, phone });
    const refused = replies.filter(({ status }) => status !== 200);
    expect(refused.map(({ json, headers }) => [json.code, headers['Retry-After']])).toEqual(
      refused.map(() => ['too_many_attempts', '60']),
    );
    expect(shown.length).toBeGreaterThanOrEqual(5);
    expect(paid.identity).toBeLessThanOrEqual(5);
    clock.advance(60);
    expect((await check({ phone })).status).toBe(200);
  });

  it('is the response to two requests at once with two phones: the user keeps one of them, with one link', async () => {
    const { check, paid, user } = await linkedUser();
    const phones = [(await newBuyerIn(table)).phone, (await newBuyerIn(table)).phone];
    const replies = await Promise.all(phones.map((phone) => check({ phone }, LONG_DEADLINE)));
    expect(replies.map(({ status, json }) => [status, json.phone])).toEqual(
      phones.map((phone) => [200, phone]),
    );
    expect(paid).toEqual({ identity: 2, ownership: 2 });
    const links = await Promise.all(phones.map((phone) => linksOf(phone)));
    expect(links.flat()).toEqual([user.id]);
  });

  it('is decided again from the first read when something changed, at the cost of one check, at most three times', async () => {
    let confirmations = 0;
    const { check, paid } = await linkedUser({
      deps: (deps) => ({
        ...deps,
        users: {
          ...deps.users,
          confirmUser: async (...args) => {
            confirmations += 1;
            return confirmations < 3 ? notWritten('buyer_gone' as const) : deps.users.confirmUser(...args);
          },
        },
      }),
    });
    expect((await check()).status).toBe(200);
    expect([confirmations, paid]).toEqual([3, CHECKED_ONCE]);
  });

  it('is the response although a correction came between its last read and its transaction', async () => {
    let isCorrected = false;
    const raced = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand' && !isCorrected) {
        isCorrected = true;
        const options = { update: { display_name: 'Sara Rezaei' }, updatedAt: '2026-11-21T08:02:00.000Z' };
        await store().updateUser('sel_test', path.id, { ...options });
      }
      return send();
    });
    const { check, path, paid } = await linkedUser({}, raced);
    const { status, json } = await check();
    expect([status, json.display_name, paid]).toEqual([200, 'Sara Rezaei', CHECKED_ONCE]);
  });

  it('keeps the external id and the place of the user, and leaves none of its phone when it is removed', async () => {
    const { check, path, person } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    const update = { external_id: 'order:check' };
    await store().updateUser('sel_test', path.id, {
      update,
      updatedAt: '2026-11-21T08:01:00.000Z',
    });
    const idsBefore = (await store().listPage('sel_test', 1, 100)).users.map(({ id }) => id);
    expect((await check({ phone })).json.external_id).toBe('order:check');
    expect((await store().listPage('sel_test', 1, 100)).users.map(({ id }) => id)).toEqual(idsBefore);
    expect((await store().findByExternalId('sel_test', 'order:check'))?.phone).toBe(phone);
    await store().removeUser('sel_test', path.id, {
      removedAt: '2026-11-21T08:03:00.000Z',
      reason: 'seller',
    });
    expect([await linksOf(person.phone), await linksOf(phone)]).toEqual([[], []]);
    expect((await itemsOf(table, 'PERSON#')).filter(({ user_id }) => user_id === path.id)).toEqual([]);
  });
});

describe('404', () => {
  it('is user_not_found if the user is removed during the check, and stores nothing', async () => {
    const registry = { wait: async () => {} };
    const { check, path } = await linkedUser({ registry });
    const { phone } = await newBuyerIn(table);
    const removal = {
      removedAt: '2026-11-21T08:02:00.000Z',
      reason: 'seller' as const,
    };
    registry.wait = async () => {
      await store().removeUser('sel_test', path.id, removal);
    };
    expect((await check({ phone })).json.code).toBe('user_not_found');
    expect([await stored(path.id), await linksOf(phone)]).toEqual([undefined, []]);
    expect((await itemsOf(table, 'PERSON#')).filter(({ user_id }) => user_id === path.id)).toEqual([]);
  });
});

describe('409', () => {
  it('is user_conflict for the national id of nobody and of another user, decided before the phone', async () => {
    const { check, paid, user } = await linkedUser();
    const { person } = await linkedUser();
    const { phone } = newPerson();
    for (const { national_id } of [newPerson(), person]) {
      const { status, json } = await check({ national_id, phone });
      expect([status, json.code, json.user_id]).toEqual([409, 'user_conflict', undefined]);
      expect(json.detail).toBe('This national_id is not that of the user.');
    }
    expect([paid, await stored(user.id)]).toEqual([NOT_CHECKED, user]);
  });
});

describe('429', () => {
  it('is rate_limit_exceeded while a limit of a link is used up, the free 200 and unknown users included', async () => {
    const names = ['refused-links-per-hour', 'failed-checks-per-hour', 'paid-checks-per-day'];
    const { check, clock, paid } = await linkedUser();
    clock.advance(-120);
    for (const name of names) {
      const authorizer = { ...newKey(), limits: JSON.stringify({ [name]: 0 }) };
      const unknown = { path: { id: `usr_${'0'.repeat(22)}` } };
      const codes = [
        await check({}, { authorizer }),
        await check({}, { authorizer, ...unknown }),
        await check({ national_id: newPerson().national_id }, { authorizer }),
      ].map(({ json }) => json.code);
      expect([name, ...codes]).toEqual([name, ...Array(3).fill('rate_limit_exceeded')]);
    }
    expect(paid).toEqual(NOT_CHECKED);
  });
});

describe('503', () => {
  it('is verification_unavailable when the stage has used up its paid checks, the free 200 included', async () => {
    const { check, paid } = await linkedUser({ paidChecksPerDay: 1 });
    expect((await check()).status).toBe(200);
    expect((await check()).json.code).toBe('verification_unavailable');
    expect(paid).toEqual(CHECKED_ONCE);
  });

  it('is service_unavailable with Retry-After when something changed for the third time', async () => {
    let confirmations = 0;
    const confirmUser = async () => {
      confirmations += 1;
      return notWritten('buyer_gone' as const);
    };
    const { check, paid } = await linkedUser({
      deps: (deps) => ({ ...deps, users: { ...deps.users, confirmUser } }),
    });
    const { status, json, headers } = await check();
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '1']);
    expect([confirmations, paid]).toEqual([3, CHECKED_ONCE]);
  });
});
