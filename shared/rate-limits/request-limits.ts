/** What a request counts: itself against its plan, and what it uses against the other limits. */
import { DAY_SECONDS, HOUR_SECONDS, MINUTE_SECONDS, timeText } from '#shared/clock.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { Problem, type ProblemTexts, problem } from '#shared/problems.ts';
import { planItem, type RateLimitItem } from './headers.ts';
import { type HourlyLimitName, keyLimit, type LimitedKey, minuteLimit } from './key-limits.ts';
import type { Limit, LimitState, LimitStates, WindowSeconds } from './limit.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** `rate_limit_exceeded`. The limit is an item of the rate-limit headers. */
export class RateLimitExceeded extends Problem {
  readonly item: RateLimitItem;

  constructor(item: RateLimitItem, texts: Pick<ProblemTexts, 'detail' | 'reason'>) {
    super('rate_limit_exceeded', { retryAfterSeconds: item.resetSeconds, ...texts });
    this.item = item;
  }
}

const WINDOW_NAMES: Readonly<Record<WindowSeconds, string>> = {
  [MINUTE_SECONDS]: 'minute',
  [HOUR_SECONDS]: 'hour',
  [DAY_SECONDS]: 'day',
};

/** The problem of a request over a limit. Its detail names the limit and says when it ends, unless the caller must not learn which it is. */
export const exceeded = (limit: Limit, state: LimitState): Problem => {
  const { name, reason, whose, windowSeconds } = limit;
  const quota = `${limit.limit} in a clock ${WINDOW_NAMES[windowSeconds]}`;
  // The limits of a key have the names by which GET /v1/key shows them.
  const shown = whose === 'API key' ? name : name.replaceAll('-', ' ');
  const detail =
    whose &&
    `The limit ${shown} of this ${whose} (${quota}) is used up until ${timeText(state.endsAt)}. Wait for Retry-After seconds.`;
  return limit.problem === 'rate_limit_exceeded'
    ? new RateLimitExceeded({ ...limit, ...state }, { detail, reason })
    : problem(limit.problem, { retryAfterSeconds: state.resetSeconds, detail, reason });
};

export interface CountedRequest {
  /** This request counted. */
  readonly plan: RateLimitItem;
  /** The hourly limits that the row names in `limitsRead`. */
  readonly hourly: ReadonlyMap<HourlyLimitName, LimitState>;
}

/** Counts a request against its plan. Throws `rate_limit_exceeded`. Undefined if it cannot be counted: the usage plan still limits it. */
export const countRequest = async (
  rateLimiter: Pick<RateLimiter, 'incrementAndRead'>,
  caller: LimitedKey,
  { limitsToRead, nowMs }: { readonly limitsToRead: readonly HourlyLimitName[]; readonly nowMs: number },
): Promise<CountedRequest | undefined> => {
  const others = limitsToRead.map((name) => keyLimit(name, caller));
  const limit = minuteLimit(caller);
  const states = await rateLimiter
    .incrementAndRead(limit, others, nowMs)
    .catch((error: unknown) => logUncounted(limit, error));
  if (states === undefined) return undefined;
  const [state, ...hourly] = states;
  if (!state.allowed) throw exceeded({ ...limit, name: caller.plan }, state);
  return {
    plan: planItem(caller.plan, state.remaining, state.resetSeconds),
    hourly: new Map(limitsToRead.map((name, index) => [name, hourly[index] as LimitState])),
  };
};

const logUncounted = ({ subject }: Limit, error: unknown): undefined => {
  logEvent('rate_limiter_unreachable', { key_id: subject, ...errorFields(error) });
};

/** Throws `rate_limit_exceeded` if one of the limits was used up when the request was counted. */
export const requireLeft = (
  counted: CountedRequest | undefined,
  caller: LimitedKey,
  names: readonly HourlyLimitName[],
): void => {
  for (const name of names) {
    const state = counted?.hourly.get(name);
    if (state?.allowed === false) throw exceeded(keyLimit(name, caller), state);
  }
};

/** The problem of the first of the limits that is used up, by the states that were read. */
export const usedUp = (limits: readonly Limit[], states: LimitStates): Problem | undefined => {
  const limit = limits.find(({ name }) => states.get(name)?.allowed === false);
  const state = limit && states.get(limit.name);
  return limit && state && exceeded(limit, state);
};

/** What was counted and can be refunded. */
export interface Consumed {
  readonly limits: readonly Limit[];
  readonly nowMs: number;
}

/**
 * Counts one of each limit, in their order. Throws the problem of the first that is used up, and the error of the table if one cannot be
 * counted: then nobody gains from a throttled item. In both cases it refunds those before it.
 */
export const consume = async (
  rateLimiter: Pick<RateLimiter, 'increment' | 'decrement'>,
  limits: readonly Limit[],
  nowMs: number,
): Promise<Consumed> => {
  const counted: Limit[] = [];
  try {
    for (const limit of limits) {
      await count(rateLimiter, limit, { nowMs, amount: 1 });
      counted.push(limit);
    }
  } catch (error) {
    await refund(rateLimiter, { limits: counted, nowMs });
    throw error;
  }
  return { limits: counted, nowMs };
};

/** Does as `consume` does with one limit, but adds nothing to its count: neither the response nor its time tells which of the two was done. */
export const consumeNothing = async (
  rateLimiter: Pick<RateLimiter, 'increment'>,
  limit: Limit,
  nowMs: number,
): Promise<void> => {
  await count(rateLimiter, limit, { nowMs, amount: 0 });
};

/** A refund that cannot be written leaves the count one too high, which spends nothing. */
export const refund = async (
  rateLimiter: Pick<RateLimiter, 'decrement'>,
  { limits, nowMs }: Consumed,
): Promise<void> => {
  await Promise.allSettled(limits.map((limit) => rateLimiter.decrement(limit, nowMs)));
};

/** Throws the problem of the limit if it is used up. */
const count = async (
  rateLimiter: Pick<RateLimiter, 'increment'>,
  limit: Limit,
  { nowMs, amount }: { readonly nowMs: number; readonly amount: 0 | 1 },
): Promise<void> => {
  const state = await rateLimiter.increment(limit, nowMs, amount);
  logCount(limit, state);
  if (!state.allowed) throw exceeded(limit, state);
};

const logCount = ({ name, limit, keyId, ceiling }: Limit, { allowed, remaining }: LimitState): void => {
  if (ceiling !== undefined) {
    const used_percent = Math.round(((limit - remaining) / ceiling.callsPerDay) * 100);
    logEvent('stage_ceiling_counted', { ceiling: ceiling.name, used_percent });
  } else if (keyId !== undefined && allowed && remaining === 0) {
    logEvent('key_limit_used_up', { limit: name, key_id: keyId });
  }
};
