import { timeText } from '#shared/clock.ts';
import { randomCode } from '#shared/one-time-codes/new-code.ts';
import {
  afterSend,
  audienceOf,
  CODE_LIMITS,
  type CodeRecord,
  FIRST_LOCK_AT,
  MAX_CONSECUTIVE_FAILURES,
  nextLockAt,
  secondsLocked,
  sendLimitsOf,
  whyNotSent,
  whyNotTried,
} from '#shared/one-time-codes/rules.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { itForAll } from '#test/for-all.ts';
import { NEW_RECORD } from './model.ts';

const NOW = 1_800_000_000;
const DAY_SECONDS = 24 * 3600;

/** A record with a code that is valid for 300 seconds from now. */
const record = (
  own: Partial<CodeRecord> = {},
  code: Partial<NonNullable<CodeRecord['code']>> = {},
): CodeRecord => ({
  ...NEW_RECORD,
  sends: [NOW],
  code: { mac: 'salt.mac', expiresAt: NOW + 300, tries: 0, provider: 'p', ...code },
  ...own,
});

const { code: _code, ...withoutCode } = record();
describe('secondsLocked', () => {
  it.each([
    [10, 900],
    [20, 1800],
    [30, 3600],
    [40, 7200],
    [50, 14_400],
    [60, 28_800],
    [70, 57_600],
    [80, 86_400],
    [90, 86_400],
  ])('locks after %i consecutive failures for %i seconds', (failures, lockSeconds) => {
    const failed = { ...withoutCode, failures, lockAt: failures, lastFailureAt: NOW };
    expect(secondsLocked(failed, NOW)).toBe(lockSeconds);
    expect(secondsLocked(failed, NOW + lockSeconds - 1)).toBe(1);
    expect(secondsLocked(failed, NOW + lockSeconds)).toBe(0);
  });

  it('locks until an admin unlocks after 100 consecutive failures, with a Retry-After of a day', () => {
    const failed = { ...withoutCode, failures: 100, lockAt: 100, lastFailureAt: NOW };
    expect(
      [NOW, NOW + DAY_SECONDS, NOW + 10_000 * DAY_SECONDS].map((now) => secondsLocked(failed, now)),
    ).toEqual([DAY_SECONDS, DAY_SECONDS, DAY_SECONDS]);
  });

  it.each([0, 1, 9, 11, 19, 99])('does not lock after %i consecutive failures', (failures) => {
    expect(
      secondsLocked({ ...withoutCode, failures, lockAt: nextLockAt(failures), lastFailureAt: NOW }, NOW),
    ).toBe(0);
  });

  it('returns at most the length of the lock when the clock is an hour behind', () => {
    const failed = { ...withoutCode, failures: 10, lockAt: 10, lastFailureAt: NOW + 3600 };
    expect(secondsLocked(failed, NOW)).toBe(900);
  });

  it('does not lock again when the clock steps back after a lock has ended', () => {
    const ended = afterSend(
      { ...withoutCode, failures: 10, lockAt: 10, lastFailureAt: NOW },
      { mac: 'm', provider: 'p' },
      NOW + 900,
    );
    expect(secondsLocked(ended, NOW)).toBe(0);
  });
});

describe('nextLockAt', () => {
  it('returns the next multiple of ten, at most 100', () => {
    expect([0, 9, 10, 89, 90, 99, 100].map(nextLockAt)).toEqual([10, 10, 20, 90, 100, 100, 100]);
    expect([FIRST_LOCK_AT, CODE_LIMITS.locks.at(-1)?.failures]).toEqual([10, MAX_CONSECUTIVE_FAILURES]);
  });
});

/** The limits of a seller that is not the buyer app. */
const SELLER = CODE_LIMITS.sendLimits;

describe('whyNotSent', () => {
  it('allows the first send to a phone', () => {
    expect(whyNotSent(NEW_RECORD, SELLER, NOW)).toBeUndefined();
  });

  it('refuses a send within 60 seconds after one that a provider refused, which counts toward no other limit', () => {
    const nine = Array.from({ length: 9 }, (_, index) => NOW - 7200 - index);
    const refused = record({ sends: nine.toReversed(), lastBouncedAt: NOW });
    expect(whyNotSent(refused, SELLER, NOW + 18)).toMatchObject({
      code: 'resend_too_soon',
      reason: 'cool_down',
      retryAfterSeconds: 42,
    });
    expect(whyNotSent(refused, SELLER, NOW + 60)).toBeUndefined();
  });
});

/** What holds of a record, and what refuses a send, or a try of its code, if nothing before it holds too. */
type Condition = readonly [what: string, refusal: string, (stored: CodeRecord) => CodeRecord];

const ago = (...seconds: readonly number[]) => seconds.map((each) => NOW - each);

const withCode = (stored: CodeRecord, own: Partial<CodeRecord['code']>): CodeRecord =>
  stored.code === undefined ? stored : { ...stored, code: { ...stored.code, ...own } };

const LOCKED: Condition = [
  'the phone is locked',
  'too_many_attempts 800',
  (stored) => ({ ...stored, failures: 10, lockAt: 10, lastFailureAt: NOW - 100 }),
];

/** The longest wait decides, so each row waits longer than the next. */
const SEND: readonly Condition[] = [
  LOCKED,
  [
    'the sends of a day are used up',
    `resend_too_soon ${DAY_SECONDS - 9000}`,
    (stored) => ({ ...stored, sends: [...ago(9000, 8000, 7000, 6000, 5000), ...stored.sends] }),
  ],
  [
    'the sends of ten minutes are used up',
    'resend_too_soon 300',
    (stored) => ({ ...stored, sends: [...stored.sends.slice(0, -5), ...ago(300, 290, 280, 270, 260)] }),
  ],
  ['a message was bounced', 'resend_too_soon 55', (stored) => ({ ...stored, lastBouncedAt: NOW - 5 })],
  [
    'a code was sent a moment ago',
    'resend_too_soon 40',
    (stored) => ({ ...stored, sends: [...stored.sends.slice(0, -1), NOW - 20] }),
  ],
];

const TRY: readonly Condition[] = [
  LOCKED,
  ['there is no code', 'code_rejected', ({ code: _none, ...stored }) => stored],
  ['the code has expired', 'code_rejected', (stored) => withCode(stored, { expiresAt: NOW })],
  [
    'no code was sent since a lock',
    'code_rejected',
    (stored) =>
      stored.failures === 10 ? stored : { ...stored, failures: 10, lockAt: 10, lastFailureAt: NOW - 900 },
  ],
  ['its tries are used up', 'too_many_attempts 60', (stored) => withCode(stored, { tries: 5 })],
];

const refusalOf = (refused: ReturnType<typeof whyNotTried>): string =>
  refused === undefined
    ? 'none'
    : 'retryAfterSeconds' in refused
      ? `${refused.code} ${refused.retryAfterSeconds}`
      : refused.code;

/** Each condition alone, and with each that comes after it. */
const pairsOf = (conditions: readonly Condition[]) =>
  conditions.flatMap((first, index) =>
    conditions.slice(index).map((second) => [`${first[0]}, and ${second[0]}`, first, second] as const),
  );

describe('two conditions at once', () => {
  itForAll(pairsOf(SEND))('refuse a send for the first of them', (_title, first, second) => {
    const open = record({ sends: ago(4000, 3000, 2000, 1900, 1800) });
    expect(refusalOf(whyNotSent(second[2](first[2](open)), SELLER, NOW))).toBe(first[1]);
  });

  itForAll(pairsOf(TRY))('refuse a try for the first of them', (_title, first, second) => {
    expect(refusalOf(whyNotTried(second[2](first[2](record())), NOW))).toBe(first[1]);
  });
});

describe('the limits of the buyer app', () => {
  const app = { scopes: ['buyers:register'] } as const;
  const tenSends = Array.from({ length: 10 }, (_, index) => NOW - (9 - index) * 700);
  const tried = record({ sends: tenSends }, { tries: 5 });

  it.each([
    ['the buyer app', app, 3600],
    ['a seller', { scopes: ['users:write'] } as const, DAY_SECONDS - 9 * 700],
    ['a caller without a key', undefined, 3600],
  ])('are those of %s in a send and in a sixth try of a code', (_case, caller, retryAfterSeconds) => {
    const limits = sendLimitsOf(caller);
    expect(whyNotSent(tried, limits, NOW)).toMatchObject({
      code: 'resend_too_soon',
      reason: 'phone_limit',
      retryAfterSeconds,
    });
    expect(whyNotTried(tried, NOW, limits)).toMatchObject({ code: 'too_many_attempts', retryAfterSeconds });
  });
});

describe('afterSend', () => {
  const code = { mac: 'salt.new', provider: 'q' };

  it('replaces the code, adds the send and keeps the failures', () => {
    const before = record({ sends: [NOW - DAY_SECONDS, NOW - 60], failures: 7, lastFailureAt: NOW - 5 });
    expect(afterSend(before, code, NOW)).toEqual({
      sends: [NOW - 60, NOW],
      failures: 7,
      lastFailureAt: NOW - 5,
      lastBouncedAt: 0,
      lockAt: 10,
      code: { ...code, expiresAt: NOW + 300, tries: 0 },
    });
  });

  it('raises the number of failures that locks next after a lock has elapsed', () => {
    expect(afterSend(record({ failures: 10, lockAt: 10 }), code, NOW).lockAt).toBe(20);
  });
});

describe('whyNotTried', () => {
  const tooMany = (retryAfterSeconds: number) =>
    expect.objectContaining({ code: 'too_many_attempts', reason: 'code_tries', retryAfterSeconds });

  it.each([
    ['a fresh code', record(), NOW],
    ['the last second of a code', record(), NOW + 299],
    ['a fifth try', record({}, { tries: 4 }), NOW],
    ['nine failures', record({ failures: 9, lastFailureAt: NOW }), NOW],
    ['a code sent after a lock', record({ failures: 10, lockAt: 20, lastFailureAt: NOW - 900 }), NOW],
  ])('allows %s', (_case, stored, now) => {
    expect(whyNotTried(stored, now)).toBeUndefined();
  });

  it.each([
    ['the cool-down', record({}, { tries: 5 }), NOW, 60],
    ['the rest of the cool-down', record({}, { tries: 5 }), NOW + 45, 15],
    ['at least one second', record({}, { tries: 5 }), NOW + 200, 1],
    [
      'the limit of five sends',
      record({ sends: [-240, -180, -120, -60, 0].map((ago) => NOW + ago) }, { tries: 5 }),
      NOW,
      360,
    ],
  ])('refuses a sixth try for %s', (_case, stored, now, retryAfterSeconds) => {
    expect(whyNotTried(stored, now)).toEqual(tooMany(retryAfterSeconds));
  });
});

describe('the detail of a wait', () => {
  const UNTIL = (seconds: number) => `until ${timeText(NOW + seconds)}. Wait for Retry-After seconds.`;
  const fiveSends = [-240, -180, -120, -70, -60].map((ago) => NOW + ago);
  const tenSends = Array.from({ length: 10 }, (_, index) => NOW - (10 - index) * 700);

  it.each([
    ['the cool-down', 'cool_down', record(), 60],
    ['five sends in ten minutes', 'phone_limit', record({ sends: fiveSends }), 360],
    ['ten sends in 24 hours', 'phone_limit', record({ sends: tenSends }), DAY_SECONDS - 7000],
    ['a send that a provider refused', 'cool_down', record({ sends: [], lastBouncedAt: NOW }), 60],
  ] as const)(
    'of a send tells the cool-down from every other limit: %s',
    (_case, reason, stored, seconds) => {
      const { detail, otherDetail } = PROBLEMS.resend_too_soon;
      expect(whyNotSent(stored, SELLER, NOW)).toEqual({
        code: 'resend_too_soon',
        reason,
        retryAfterSeconds: seconds,
        detail: reason === 'cool_down' ? otherDetail : detail,
      });
    },
  );

  it('of a locked phone names the end of the lock', () => {
    const locked = { ...record(), failures: 10, lockAt: 10, lastFailureAt: NOW };
    expect(whyNotSent(locked, SELLER, NOW)).toEqual({
      code: 'too_many_attempts',
      reason: 'phone_locked',
      retryAfterSeconds: 900,
      detail: `This phone is locked after failed codes ${UNTIL(900)}`,
    });
  });

  it('of a try names the tries of the code and when another can be sent', () => {
    expect(whyNotTried(record({}, { tries: 5 }), NOW)).toMatchObject({
      detail: `The 5 tries of this code are used up. No other code can be sent ${UNTIL(60)}`,
    });
  });

  it('of a lock without an end says who ends it', () => {
    const locked = { ...record(), failures: 100, lockAt: 100, lastFailureAt: NOW };
    expect(whyNotSent(locked, SELLER, NOW)).toEqual({
      code: 'too_many_attempts',
      reason: 'phone_locked_for_good',
      retryAfterSeconds: DAY_SECONDS,
      detail: 'This phone is locked after failed codes until an operator of the service unlocks it.',
    });
  });
});

describe('audienceOf', () => {
  it("returns the caller's seller, or public where no key is taken", () => {
    expect(audienceOf({ sellerId: 'sel_a' })).toBe('sel_a');
    expect(audienceOf(undefined)).toBe('public');
  });
});

describe('randomCode', () => {
  it('has six digits, also when they begin with zeros, as one in ten of 1,000 codes does', () => {
    const codes = Array.from({ length: 1000 }, () => randomCode('+989121234567'));
    expect(codes.filter((code) => !/^[0-9]{6}$/.test(code))).toEqual([]);
    expect(codes.filter((code) => code.startsWith('0')).length).toBeGreaterThan(0);
  });
});
