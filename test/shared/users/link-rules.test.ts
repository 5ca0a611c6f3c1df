import { callerFrom } from '#shared/api-keys/caller.ts';
import type { Limit } from '#shared/rate-limits/limit.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { checkLimits } from '#shared/users/check-limits.ts';
import { decideCheck, decideLink } from '#shared/users/link-rules.ts';
import type { FoundPerson } from '#shared/users/read-person.ts';
import { itForAll } from '#test/for-all.ts';
import { callerContext } from '#test/functions/harness.ts';
import { BORN } from './linking.ts';

const NOW_MS = Date.parse('2026-11-21T08:00:00Z');
const PHONE = '+989990000001';
const SIGNED_IN_AT = NOW_MS / 1000;

const hashes = { sellerId: 'sel_1', person: new KeyedHash('person'), phone: new KeyedHash('phone') };
const limits = checkLimits(callerFrom({ ...callerContext, scopes: 'users:write' }, 0), hashes, 20);
const body = { phone: PHONE, birth_date: BORN };

const USER = {
  id: 'usr_1',
  person_hash: 'person',
  phone_hash: 'phone',
  checked_at: new Date(NOW_MS - 120_000).toISOString(),
};
const LINKED = { userId: 'usr_1', phoneHash: 'phone', birthDay: BORN.isoDay };
const BUYER = { pk: 'BUYER#phone', sk: 'BUYER' };

/** Of nobody who is linked, but whose phone is registered. */
const NOTHING: FoundPerson = {
  linked: undefined,
  ended: undefined,
  buyer: BUYER,
  isExternalIdTaken: false,
  user: undefined,
  limitStates: new Map(),
};

const usedUp =
  (limit: Limit | undefined) =>
  (found: FoundPerson): FoundPerson => {
    const state = { allowed: false, remaining: 0, resetSeconds: 7, endsAt: SIGNED_IN_AT + 7 };
    return { ...found, limitStates: new Map([...found.limitStates, [String(limit?.name), state]]) };
  };

/** What holds, and the decision if nothing that precedes it holds too: the code of a problem, whether it counts, or the next step. */
type Condition = readonly [what: string, decision: string, (found: FoundPerson) => FoundPerson];

const [ofKey, ofShare, ofStage] = limits.paidChecks;
const [failed, begun] = limits.ofPerson;

const OF_KEY_AND_STAGE: readonly Condition[] = [
  ['the paid checks of the key are used up', 'rate_limit_exceeded', usedUp(ofKey)],
  ['the share of the seller is used up', 'verification_unavailable', usedUp(ofShare)],
  ['the ceiling of the stage is used up', 'verification_unavailable', usedUp(ofStage)],
];

const OF_PERSON: readonly Condition[] = [
  ['the failed checks of the person are used up', 'too_many_attempts', usedUp(failed)],
  ['the begun checks of the person are used up', 'too_many_attempts', usedUp(begun)],
];

const NO_BUYER: Condition = [
  'no buyer has the phone',
  'buyer_not_registered, counted',
  (found) => ({ ...found, buyer: undefined }),
];

/** In the order in which they decide. */
const LINK: readonly Condition[] = [
  ...OF_KEY_AND_STAGE,
  [
    'the person is linked with another birth date',
    'user_conflict, counted',
    (found) => ({ ...found, linked: { ...LINKED, birthDay: '1991-04-05' } }),
  ],
  ...OF_PERSON,
  [
    'the buyer ended the link',
    'link_refused, counted',
    (found) => ({ ...found, ended: { endedAt: SIGNED_IN_AT, personHash: 'person', phoneHash: 'phone' } }),
  ],
  NO_BUYER,
  [
    'the external id is taken',
    'external_id_conflict, counted',
    (found) => ({ ...found, isExternalIdTaken: true }),
  ],
];

const CHECK: readonly Condition[] = [
  ...OF_KEY_AND_STAGE,
  ['there is no such user', 'user_not_found', (found) => ({ ...found, user: undefined })],
  [
    'the national id is that of somebody else',
    'user_conflict, counted',
    (found) => ({ ...found, user: found.user && { ...found.user, person_hash: 'somebody else' } }),
  ],
  ...OF_PERSON,
  NO_BUYER,
  [
    'the same data was checked a moment ago',
    'show',
    (found) => ({
      ...found,
      user: found.user && { ...found.user, checked_at: new Date(NOW_MS).toISOString() },
    }),
  ],
];

type Decision = ReturnType<typeof decideLink> | ReturnType<typeof decideCheck>;

const textOf = (decision: Decision): string =>
  decision.next === 'refuse'
    ? `${decision.problem.code}${decision.counts ? ', counted' : ''}`
    : decision.next;

const asked = { body, hashes, limits, isChecked: false };
const signedIn = { phone: PHONE, authTime: SIGNED_IN_AT };
const link = (found: FoundPerson, own = {}) => textOf(decideLink(found, { ...asked, signedIn, ...own }));
const check = (found: FoundPerson, own = {}) =>
  textOf(decideCheck({ ...found }, { ...asked, nowMs: NOW_MS, ...own }));

const LINKED_USER: FoundPerson = { ...NOTHING, linked: LINKED, user: USER };

const pairsOf = (conditions: readonly Condition[]) =>
  conditions.flatMap((first, index) =>
    conditions.slice(index).map((second) => [`${first[0]}, and ${second[0]}`, first, second] as const),
  );

describe('decideLink', () => {
  itForAll(pairsOf(LINK))('decides by the first of two conditions', (_title, first, second) => {
    expect(link(second[2](first[2](NOTHING)))).toBe(first[1]);
  });

  it('needs a check of a person who is not linked', () => {
    expect(link(NOTHING)).toBe('check');
  });

  it('shows a linked person without a check, also with a used-up limit of the person or an external id that is taken', () => {
    const linked = { ...NOTHING, linked: LINKED };
    for (const [, , holds] of [...OF_PERSON, NO_BUYER, LINK.at(-1) as Condition])
      expect(link(holds(linked))).toBe('show');
  });

  it.each([
    ['of another phone', { phoneHash: 'another' }],
    ['with another birth date', { birthDay: '1991-04-05' }],
  ])('refuses a person who is linked %s', (_case, other) => {
    expect(link({ ...NOTHING, linked: { ...LINKED, ...other } })).toBe('user_conflict, counted');
  });

  it.each([
    ['of a later second', PHONE, 1, 'check'],
    ['of the same second', PHONE, 0, 'link_refused, counted'],
    ['with another phone', '+989990000002', 1, 'link_refused, counted'],
  ])('after an end by the buyer, with a sign-in %s', (_case, phone, seconds, decision) => {
    const ended = { endedAt: SIGNED_IN_AT, personHash: 'person', phoneHash: 'phone' };
    const by = { signedIn: { phone, authTime: SIGNED_IN_AT + seconds } };
    expect(link({ ...NOTHING, ended }, by)).toBe(decision);
  });

  it.each([...OF_KEY_AND_STAGE, ...OF_PERSON])(
    'does not refuse a person whom the registries have confirmed in this request: %s',
    (_what, _decision, holds) => {
      expect(link(holds(NOTHING), { isChecked: true })).toBe('check');
    },
  );

  it.each(LINK.filter(([, decision]) => decision.endsWith(', counted')))(
    'still refuses a person whom the registries have confirmed in this request: %s',
    (_what, decision, holds) => {
      expect(link(holds(NOTHING), { isChecked: true })).toBe(decision);
    },
  );
});

describe('decideCheck', () => {
  itForAll(pairsOf(CHECK))('decides by the first of two conditions', (_title, first, second) => {
    expect(check(second[2](first[2](LINKED_USER)))).toBe(first[1]);
  });

  it.each([
    ['shows', 59_999, 'show'],
    ['checks', 60_000, 'check'],
  ])('%s a user whose last check is %i ms old', (_what, ageMs, decision) => {
    const user = { ...USER, checked_at: new Date(NOW_MS - ageMs).toISOString() };
    expect(check({ ...LINKED_USER, user })).toBe(decision);
  });

  it.each([
    [
      'another phone',
      { user: { ...USER, phone_hash: 'another', checked_at: new Date(NOW_MS).toISOString() } },
    ],
    [
      'another birth date',
      {
        user: { ...USER, checked_at: new Date(NOW_MS).toISOString() },
        linked: { ...LINKED, birthDay: '1991-04-05' },
      },
    ],
    ['a time in the future', { user: { ...USER, checked_at: new Date(NOW_MS + 60_000).toISOString() } }],
  ])('checks again what was checked a moment ago with %s', (_case, own) => {
    expect(check({ ...LINKED_USER, ...own })).toBe('check');
  });

  it.each([...OF_KEY_AND_STAGE, ...OF_PERSON])(
    'does not refuse a person whom the registries have confirmed in this request: %s',
    (_what, _decision, holds) => {
      expect(check(holds(LINKED_USER), { isChecked: true })).toBe('check');
    },
  );
});
