import {
  afterUnsent,
  CODE_LIMITS,
  MAX_CONSECUTIVE_FAILURES,
  type SendLimit,
  secondsLocked,
  whyNotSent,
} from '#shared/one-time-codes/rules.ts';
import { modelPhone } from './model.ts';

/** A way to guess the codes of one phone with the key of one seller, for a simulated month. */
interface Strategy {
  readonly name: string;
  /** Guesses on each code, at most. More than five model parallel guesses. */
  readonly guessesPerCode: number;
  /** Which sends the SMS provider refuses, by their number. Guesses are made before the send is undone. */
  readonly isBounced: (sendNumber: number) => boolean;
  /** Seconds between two steps, at least. */
  readonly pauseSeconds: number;
  /** Seconds between two sign-ins of the buyer with this seller, each of which sets the failures to 0. */
  readonly buyerSignsInEverySeconds?: number;
  /** Guesses are made up to this number of consecutive failures only: the next one would lock the phone for too long. */
  readonly mostFailures?: number;
  /** Those of a seller if they are left out. */
  readonly sendLimits?: readonly SendLimit[];
}

interface GuessingResult {
  readonly strategy: string;
  /** SMS that reached the phone, and sends that the provider refused. */
  readonly sms: number;
  readonly refusedSends: number;
  readonly guesses: number;
  readonly maxConsecutiveFailures: number;
  /** Days until only an admin can unlock the phone, to one decimal; undefined if that did not happen. */
  readonly daysUntilLockedForGood: number | undefined;
  /** The chance that one of the guesses was right. */
  readonly chance: number;
}

const DAY_SECONDS = 24 * 3600;
const MONTH_SECONDS = 30 * DAY_SECONDS;
const CODES = 10 ** CODE_LIMITS.digits;

const never = (): boolean => false;
const always = (): boolean => true;

/** The rows of the table in docs/operators/security.md, each computed by `simulateMonth`. */
export const STRATEGIES: readonly Strategy[] = [
  {
    name: 'Five guesses on each code, as fast as possible',
    guessesPerCode: 5,
    isBounced: never,
    pauseSeconds: 1,
  },
  { name: '50 parallel guesses on each code', guessesPerCode: 50, isBounced: never, pauseSeconds: 1 },
  { name: 'One guess on each code', guessesPerCode: 1, isBounced: never, pauseSeconds: 1 },
  { name: 'The SMS provider refuses every message', guessesPerCode: 5, isBounced: always, pauseSeconds: 1 },
  {
    name: 'The SMS provider refuses every other message',
    guessesPerCode: 3,
    isBounced: (sendNumber) => sendNumber % 2 === 0,
    pauseSeconds: 1,
  },
  {
    name: 'Two idle days after each code',
    guessesPerCode: 5,
    isBounced: never,
    pauseSeconds: 2 * DAY_SECONDS,
  },
];

/** Not among the strategies: only the buyer can do this. It is the residual risk that docs/operators/security.md states. */
export const WITH_DAILY_SIGN_IN: Strategy = {
  name: 'The buyer signs in with this seller every day',
  guessesPerCode: 5,
  isBounced: never,
  pauseSeconds: 1,
  buyerSignsInEverySeconds: DAY_SECONDS,
};

/** The same through the buyer app, which can send more codes a day. */
export const WITH_DAILY_SIGN_IN_TO_APP: Strategy = {
  ...WITH_DAILY_SIGN_IN,
  name: 'The buyer signs in to the buyer app every day',
  // The seventieth failure locks the phone for 16 hours, past the next sign-in.
  mostFailures: 69,
  sendLimits: CODE_LIMITS.sendLimitsOfBuyerApp,
};

/** Guesses for a month by the rules alone: send as soon as the rules allow it, then guess. */
export const simulateMonth = (strategy: Strategy): GuessingResult => {
  const limits = strategy.sendLimits ?? CODE_LIMITS.sendLimits;
  const phone = modelPhone(limits);
  const count = { sms: 0, refused: 0, guesses: 0, max: 0 };
  let chanceOfNone = 1;
  let lockedForGoodAt: number | undefined;
  let buyerSignedInAt = 0;

  const guess = (now: number): void => {
    let guesses = 0;
    const most = Math.min(
      strategy.guessesPerCode,
      (strategy.mostFailures ?? MAX_CONSECUTIVE_FAILURES) - phone.record.failures,
    );
    for (let index = 0; index < most; index += 1) guesses += Number(phone.countTry(now));
    count.guesses += guesses;
    count.max = Math.max(count.max, phone.record.failures);
    // Guesses on one code are all different.
    chanceOfNone *= 1 - guesses / CODES;
    if (phone.record.failures >= MAX_CONSECUTIVE_FAILURES) lockedForGoodAt ??= now;
  };

  const attack = (now: number): void => {
    const mac = `code-${count.sms + count.refused}.mac`;
    const before = phone.send(mac, now);
    guess(now);
    if (before === undefined) return;
    const isBounced = strategy.isBounced(count.sms + count.refused);
    count[isBounced ? 'refused' : 'sms'] += 1;
    if (isBounced) phone.undo(afterUnsent(before, { now, isBounced }), mac);
  };

  const signIn = (now: number): void => {
    buyerSignedInAt = now;
    if (secondsLocked(phone.record, now) === 0) phone.redeem(phone.record.code?.mac ?? '');
  };

  for (let now = 0; now < MONTH_SECONDS; ) {
    if (now - buyerSignedInAt >= (strategy.buyerSignsInEverySeconds ?? Number.POSITIVE_INFINITY)) signIn(now);
    attack(now);
    const refusal = whyNotSent(phone.record, limits, now);
    const waitSeconds = refusal && 'retryAfterSeconds' in refusal ? refusal.retryAfterSeconds : 0;
    now += Math.max(strategy.pauseSeconds, waitSeconds);
  }
  return {
    strategy: strategy.name,
    sms: count.sms,
    refusedSends: count.refused,
    guesses: count.guesses,
    maxConsecutiveFailures: count.max,
    daysUntilLockedForGood:
      lockedForGoodAt === undefined ? undefined : Math.round((lockedForGoodAt / DAY_SECONDS) * 10) / 10,
    chance: 1 - chanceOfNone,
  };
};
