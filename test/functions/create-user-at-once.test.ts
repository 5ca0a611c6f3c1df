import { setImmediate as nextTurn } from 'node:timers/promises';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { useTable } from '#test/table/use-table.ts';
import {
  addSellers,
  createUserUnderTest,
  newBuyerIn,
  newKey,
  type RegistryResults,
} from './create-user-under-test.ts';
import type { Reply } from './harness.ts';

const table = useTable();
beforeAll(async () => {
  await addSellers(table, 'sel_test');
});

const createUser = (registry: RegistryResults = {}) => createUserUnderTest(table, { registry });
const newBuyer = () => newBuyerIn(table);
const codesOf = (replies: readonly Reply[]) => replies.map(({ status, json }) => json.code ?? status).sort();

/** A deadline that no wait of these tests reaches, also on a busy machine. */
const PATIENT = { timeLeftMs: 60_000 };

describe('twenty identical requests at once', () => {
  it('get one 201; at most five pairs of paid calls are made; the others get 200, or too_many_attempts until the next minute', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser();
    clock.set('2026-11-21T08:00:07Z');
    const send = () => Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...PATIENT })));
    const replies = await send();
    const linked = replies.filter(({ status }) => status < 300);
    expect(linked.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(linked.map(({ json }) => JSON.stringify(json))).size).toBe(1);
    const refused = replies.filter(({ status }) => status >= 300);
    expect(refused.map(({ json, headers }) => [json.code, headers['Retry-After']])).toEqual(
      refused.map(() => ['too_many_attempts', '53']),
    );
    expect(linked.length).toBeGreaterThanOrEqual(5);
    expect(paid.identity).toBeLessThanOrEqual(5);
    expect(paid.ownership).toBe(paid.identity);
    clock.advance(53);
    expect(codesOf(await send())).toEqual(Array(20).fill(200));
  });

  it('get five refusals of their own and fifteen too_many_attempts when the registry refuses the person', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ ownership: 'not_matched' });
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...PATIENT })));
    expect(codesOf(replies)).toEqual([
      ...Array(5).fill('phone_not_owned'),
      ...Array(15).fill('too_many_attempts'),
    ]);
    expect(paid).toEqual({ identity: 5, ownership: 5 });
  });

  it('begin five checks, none of which counts as failed, while the registry has no verdict', async () => {
    const person = await newBuyer();
    const { call, paid, registry, clock } = createUserUnderTest(table, {
      registry: { identity: unavailableBecause('upstream') },
    });
    const replies = await Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...PATIENT })));
    expect(codesOf(replies)).toEqual([
      ...Array(15).fill('too_many_attempts'),
      ...Array(5).fill('verification_unavailable'),
    ]);
    expect(paid.identity).toBe(5);
    registry.identity = 'matched';
    clock.advance(60);
    expect((await call({ body: person })).status).toBe(201);
  });

  it('begin a check each, and count none of them, while no provider is called', async () => {
    const person = await newBuyer();
    const { call } = createUser({
      identity: unavailableBecause('circuit_open'),
      ownership: unavailableBecause('circuit_open'),
    });
    for (let count = 0; count < 7; count += 1)
      expect((await call({ body: person })).json.code).toBe('verification_unavailable');
  });
});

describe('two requests at once for one person with two birth dates', () => {
  it('both pay for a check: one links the person, the other gets user_conflict', async () => {
    const person = await newBuyer();
    const checked = Promise.withResolvers<void>();
    const { call, paid } = createUser({ wait: () => checked.promise });
    const both = [person, { ...person, birth_date: '1370/1/16' }].map((body) => call({ body }));
    while (paid.ownership < 2) await nextTurn();
    checked.resolve();
    expect(codesOf(await Promise.all(both))).toEqual([201, 'user_conflict']);
    expect(paid).toEqual({ identity: 2, ownership: 2 });
  });
});

/** The nth of the days that are guessed. None of them is the birth date of the person. */
const guess = (index: number) => `${1300 + Math.floor(index / 28)}/1/${1 + (index % 28)}`;

describe('guesses of a birth date', () => {
  it('cost five checks for 50 birth dates at once; the other requests get too_many_attempts', async () => {
    const person = await newBuyer();
    const { call, paid } = createUser({ identity: 'not_found' });
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        call({ body: { ...person, birth_date: guess(index) }, authorizer: newKey(), ...PATIENT }),
      ),
    );
    expect(codesOf(replies)).toEqual([
      ...Array(5).fill('identity_mismatch'),
      ...Array(45).fill('too_many_attempts'),
    ]);
    expect(paid.identity).toBe(5);
  });

  it('reach a registry at most 15 times in a day, also around the turn of a minute', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: 'not_found' });
    clock.set('2026-11-21T23:57:59Z');
    const replies: Reply[] = [];
    for (let minute = 0; minute < 2; minute += 1) {
      const burst = Array.from({ length: 30 }, (_, index) =>
        call({
          body: { ...person, birth_date: guess(30 * minute + index) },
          authorizer: newKey(),
          ...PATIENT,
        }),
      );
      replies.push(...(await Promise.all(burst)));
      clock.advance(1);
    }
    const codes = codesOf(replies);
    expect(codes.filter((code) => code === 'identity_mismatch')).toHaveLength(5);
    expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(55);
    expect(paid.identity).toBeLessThanOrEqual(15);
  });

  it('do not keep a right request from its link in the next minute', async () => {
    const person = await newBuyer();
    const { call, clock } = createUser({ identity: ({ month }) => (month === 1 ? 'matched' : 'not_found') });
    for (const day of [1, 2, 3, 4]) await call({ body: { ...person, birth_date: `1370/2/${day}` } });
    clock.advance(60);
    expect((await call({ body: person })).status).toBe(201);
  });
});
