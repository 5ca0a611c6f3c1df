import { callerFrom } from '#shared/api-keys/caller.ts';
import type { UnavailableReason } from '#shared/providers/unavailable.ts';
import type { Limit, LimitState } from '#shared/rate-limits/limit.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { checkLimits } from '#shared/users/check-limits.ts';
import { paidCheck } from '#shared/users/paid-check.ts';
import { type FakeResults, fakeIdentityRegistry } from '#test/fakes/identity-registry.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';
import { callerContext } from '#test/functions/harness.ts';

const HASHES = { sellerId: 'sel_1', person: new KeyedHash('person'), phone: new KeyedHash('phone') };
const PERSON = {
  nationalId: '9990010048',
  birthDate: { year: 1370, month: 1, day: 15 },
  phone: '+989990001004',
};

/** A limiter that counts by name and refuses the limits that are used up. */
const limiterOf = (usedUp: readonly string[]) => {
  const counts: Record<string, number> = {};
  const add = (name: string, amount: number): void => {
    counts[name] = (counts[name] ?? 0) + amount;
  };
  const limiter = {
    increment: async ({ name }: Limit): Promise<LimitState> => {
      const allowed = !usedUp.includes(name);
      add(name, allowed ? 1 : 0);
      return { allowed, remaining: 0, resetSeconds: 30, endsAt: 1_800_000_000 };
    },
    decrement: async ({ name }: Limit) => add(name, -1),
  };
  return { limiter, counts };
};

interface Case {
  readonly results: FakeResults;
  readonly usedUp?: readonly string[];
}

/** Makes a check. Returns the code of its problem, and what stays counted. */
const outcomeOf = async ({ results, usedUp = [] }: Case) => {
  const { limiter, counts } = limiterOf(usedUp);
  const deps = { rateLimiter: limiter, identityRegistry: fakeIdentityRegistry(results), clock: () => 0 };
  const limits = checkLimits(callerFrom(callerContext, 0), HASHES, undefined);
  const code = await paidCheck(deps, { limits, person: PERSON }).then(
    () => 'matched',
    (error) => error.code,
  );
  const counted = Object.entries(counts).filter(([, count]) => count !== 0);
  return { code, counted: Object.fromEntries(counted) };
};

const BEGUN = { 'begun-checks': 1, 'paid-checks-per-day': 1 };
const NOT_FOUND: FakeResults = { identity: () => 'not_found' };
const NO_VERDICT: FakeResults = { ownership: () => unavailableBecause('upstream') };
const notReached = (reason: UnavailableReason): FakeResults => ({
  identity: () => unavailableBecause(reason, { delivery: 'not_reached' }),
  ownership: () => unavailableBecause(reason, { delivery: 'not_reached' }),
});
/** The other check ends in the same turn. */
const HALF_REACHED: FakeResults = { ...notReached('transport'), ownership: () => 'matched' };

describe('paidCheck', () => {
  it.each([
    ['its beginning alone when both registries match', { results: {} }, 'matched', BEGUN],
    [
      'a verdict against the person for the person and the key',
      { results: NOT_FOUND },
      'identity_mismatch',
      { ...BEGUN, 'failed-checks': 1, 'failed-checks-per-hour': 1 },
    ],
    [
      'such a verdict for the person although the limit of the key is used up',
      { results: NOT_FOUND, usedUp: ['failed-checks-per-hour'] },
      'rate_limit_exceeded',
      { ...BEGUN, 'failed-checks': 1 },
    ],
    [
      'such a verdict for the key although the limit of the person is used up',
      { results: NOT_FOUND, usedUp: ['failed-checks'] },
      'too_many_attempts',
      { ...BEGUN, 'failed-checks-per-hour': 1 },
    ],
    ['its beginning alone without a verdict', { results: NO_VERDICT }, 'verification_unavailable', BEGUN],
    [
      'no beginning while the circuits of both registries are open',
      { results: notReached('circuit_open') },
      'verification_unavailable',
      {},
    ],
    [
      'no beginning when neither registry could be connected to',
      { results: notReached('transport') },
      'verification_unavailable',
      {},
    ],
    [
      'its beginning alone when one registry could not be connected to and the other one was reached',
      { results: HALF_REACHED },
      'verification_unavailable',
      BEGUN,
    ],
    [
      'nothing of the key when the person has no check left',
      { results: {}, usedUp: ['begun-checks'] },
      'too_many_attempts',
      {},
    ],
  ] as const)('counts %s', async (_what, given, code, counted) => {
    expect(await outcomeOf(given)).toEqual({ code, counted });
  });
});

const hashes = { sellerId: 'sel_1', person: new KeyedHash('person'), phone: new KeyedHash('phone') };

describe('checkLimits', () => {
  it('gives every limit that is read for a check another name, since the states are found by the name', () => {
    const { paidChecks, ofPerson } = checkLimits(
      callerFrom({ ...callerContext, scopes: 'users:write' }, 0),
      hashes,
      20,
    );
    const names = [...paidChecks, ...ofPerson].map(({ name }) => name);
    expect(names).toEqual([
      'paid-checks-per-day',
      'share-of-paid-checks-per-day',
      'count',
      'failed-checks',
      'begun-checks',
    ]);
  });
});
