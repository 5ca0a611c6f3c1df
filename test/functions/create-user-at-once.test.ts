import { isFullRun } from '#test/full-run.ts';
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
const LONG_DEADLINE = { timeLeftMs: 60_000 };

describe('twenty identical requests at once', () => {
  it('get one 201; at most five pairs of paid calls are made; the others get 200, or too_many_attempts until the next minute', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser();
    clock.set('2026-11-21T08:00:07Z');
    const send = () =>
      Promise.all(Array.from({ length: 20 }, () => call({ body: person, ...LONG_DEADLINE })));
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
});

/** As many guesses at once as show the limit of a minute, or six times that limit. */
const BURST = isFullRun ? 30 : 12;

/** The nth of the days that are guessed. None of them is the birth date of the person. */
const guess = (index: number) => `${1300 + Math.floor(index / 28)}/1/${1 + (index % 28)}`;

describe('guesses of a birth date', () => {
  it('reach a registry at most 15 times in a day, also around the turn of a minute', async () => {
    const person = await newBuyer();
    const { call, paid, clock } = createUser({ identity: 'not_found' });
    clock.set('2026-11-21T23:57:59Z');
    const replies: Reply[] = [];
    for (let minute = 0; minute < 2; minute += 1) {
      const burst = Array.from({ length: BURST }, (_, index) =>
        call({
          body: { ...person, birth_date: guess(BURST * minute + index) },
          authorizer: newKey(),
          ...LONG_DEADLINE,
        }),
      );
      replies.push(...(await Promise.all(burst)));
      clock.advance(1);
    }
    const codes = codesOf(replies);
    expect(codes.filter((code) => code === 'identity_mismatch')).toHaveLength(5);
    expect(codes.filter((code) => code === 'too_many_attempts')).toHaveLength(2 * BURST - 5);
    expect(paid.identity).toBeLessThanOrEqual(15);
  });
});
