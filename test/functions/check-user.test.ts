import type { Table } from '#shared/table/client.ts';
import { phoneLinksPartition } from '#shared/table/keys.ts';
import { queryAll } from '#shared/table/reads.ts';
import { notWritten } from '#shared/table/writes.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
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
const PATIENT = { timeLeftMs: 60_000 };

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

  it('makes a link with the new data the repetition, and one with the old phone a conflict', async () => {
    const { check, call, person, user } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    await check({ phone });
    const again = await call({ body: { ...person, phone } });
    expect([again.status, again.json.id]).toEqual([200, user.id]);
    expect((await call({ body: person })).json).toMatchObject({ code: 'user_conflict', user_id: user.id });
  });

  it('needs no paid check for the same data within 60 seconds of the last one, nor of the link', async () => {
    const { check, clock, paid, user } = await linkedUser();
    clock.advance(-61);
    expect((await check()).json).toEqual(user);
    expect(paid).toEqual(NOT_CHECKED);
    clock.advance(1);
    const { json } = await check();
    expect(paid).toEqual(CHECKED_ONCE);
    clock.advance(59.999);
    expect((await check()).json).toEqual(json);
    expect(paid).toEqual(CHECKED_ONCE);
    clock.advance(0.001);
    expect((await check()).json.checked_at).not.toBe(json.checked_at);
    expect(paid.identity).toBe(2);
  });

  it('makes a check within 60 seconds of another phone or birth date, and of a time that a wrong clock wrote', async () => {
    const { check, clock, paid } = await linkedUser();
    await check();
    await check({ phone: (await newBuyerIn(table)).phone });
    await check({ phone: (await newBuyerIn(table)).phone, birth_date: '1370/1/16' });
    expect(paid.identity).toBe(3);
    const { phone } = await newBuyerIn(table);
    await check({ phone });
    clock.advance(-61);
    await check({ phone });
    expect(paid.identity).toBe(5);
  });

  it('is the response to five of 20 identical requests at once at most; the others get it, or too_many_attempts until the next minute', async () => {
    const { check, paid, user, clock } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    const replies = await Promise.all(Array.from({ length: 20 }, () => check({ phone }, PATIENT)));
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
    const replies = await Promise.all(phones.map((phone) => check({ phone }, PATIENT)));
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

  it('is the response beside a correction, which stays', async () => {
    const registry = { wait: async () => {} };
    const { check, path, user } = await linkedUser({ registry });
    registry.wait = async () => {
      const update = { display_name: 'Sara Rezaei' };
      const options = { update, updatedAt: '2026-11-21T08:02:00.000Z' };
      await store().updateUser('sel_test', path.id, options);
    };
    const { json } = await check();
    expect(json).toEqual({ ...user, display_name: 'Sara Rezaei', checked_at: '2026-11-21T08:02:00.000Z' });
    expect(await stored(path.id)).toEqual(json);
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

  it('is the response to the same request again after it was interrupted after any of its writes', async () => {
    for (const interruptedAfter of [1, 2, 3, 4]) {
      let writes = 0;
      const interrupted = interceptedTable(table, async ({ name }, send) => {
        if (writes === interruptedAfter) throw new Error('interrupted');
        const result = await send();
        if (!/^(Get|BatchGet|Query)/.test(name)) writes += 1;
        if (writes === interruptedAfter) throw new Error('interrupted');
        return result;
      });
      const { check, path, person, user } = await linkedUser({}, interrupted);
      const { phone } = await newBuyerIn(table);
      expect((await check({ phone })).status).toBeGreaterThanOrEqual(500);
      const now = await stored(path.id);
      expect([user.phone, phone]).toContain(now?.phone);
      const expected = now?.phone === phone ? [[], [path.id]] : [[path.id], []];
      expect([await linksOf(person.phone), await linksOf(phone)]).toEqual(expected);
      const repeated = createUserUnderTest(table);
      // The lease of the interrupted request expires.
      repeated.clock.advance(120 + 26);
      const again = await repeated.check({ path, body: { ...claimOf(person), phone } });
      expect([again.status, again.json.phone, await stored(path.id)]).toEqual([200, phone, again.json]);
      expect(await linksOf(phone)).toEqual([path.id]);
    }
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

  it('is buyer_not_registered for a phone that no buyer has registered, without a paid check', async () => {
    const { check, paid, user } = await linkedUser();
    const { status, json } = await check({ phone: newPerson().phone });
    expect([status, json.code]).toEqual([404, 'buyer_not_registered']);
    expect([paid, await stored(user.id)]).toEqual([NOT_CHECKED, user]);
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

describe('422', () => {
  it('is the verdict against the person, and changes nothing', async () => {
    const { check, registry, user } = await linkedUser();
    const { phone } = await newBuyerIn(table);
    registry.identity = 'deceased';
    expect((await check({ phone })).json.code).toBe('identity_mismatch');
    Object.assign(registry, { identity: 'matched', ownership: 'not_matched' });
    const { status, json } = await check({ phone });
    expect([status, json.code]).toEqual([422, 'phone_not_owned']);
    expect([await stored(user.id), await eventsOf(user.id)]).toEqual([user, ['user.linked']]);
  });

  it('names every missing, wrong and unknown field', async () => {
    const { path } = await linkedUser();
    const body = { national_id: '1', phone: '12', display_name: 'Sara' };
    const { status, json } = await createUserUnderTest(table).check({ path, body });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
    expect(json.errors.map(({ pointer }: Record<string, string>) => pointer).sort()).toEqual([
      '#/birth_date',
      '#/display_name',
      '#/national_id',
      '#/phone',
    ]);
  });
});

describe('429', () => {
  it('is too_many_attempts after five failed checks of the person, links included', async () => {
    const { check, registry, paid, clock } = await linkedUser();
    registry.ownership = 'not_matched';
    const untilMidnight = String((Date.parse('2026-11-22T00:00:00Z') - clock()) / 1000);
    for (let failed = 0; failed < 5; failed += 1) {
      expect((await check()).json.code).toBe('phone_not_owned');
    }
    registry.ownership = 'matched';
    const { status, json, headers } = await check();
    expect([status, json.code, headers['Retry-After']]).toEqual([429, 'too_many_attempts', untilMidnight]);
    expect(paid.identity).toBe(5);
  });

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

  it('is rate_limit_exceeded for the check after the last paid one of the day, and after the last failed one', async () => {
    const { check, registry } = await linkedUser();
    const paidKey = { ...newKey(), limits: JSON.stringify({ 'paid-checks-per-day': 1 }) };
    expect((await check({}, { authorizer: paidKey })).status).toBe(200);
    expect((await check({}, { authorizer: paidKey })).json.code).toBe('rate_limit_exceeded');
    registry.identity = 'not_found';
    const failedKey = { ...newKey(), limits: JSON.stringify({ 'failed-checks-per-hour': 1 }) };
    const { phone } = await newBuyerIn(table);
    expect((await check({ phone }, { authorizer: failedKey })).json.code).toBe('identity_mismatch');
    expect((await check({ phone }, { authorizer: failedKey })).json.code).toBe('rate_limit_exceeded');
  });
});

describe('503', () => {
  it('is verification_unavailable without a verdict, and changes nothing', async () => {
    const { check, registry, user } = await linkedUser();
    registry.ownership = unavailableBecause('upstream');
    const { phone } = await newBuyerIn(table);
    expect((await check({ phone })).json.code).toBe('verification_unavailable');
    expect([await stored(user.id), await linksOf(phone)]).toEqual([user, []]);
  });

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
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '5']);
    expect([confirmations, paid]).toEqual([3, CHECKED_ONCE]);
  });
});
