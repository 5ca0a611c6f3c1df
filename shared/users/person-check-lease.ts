import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import { problem } from '#shared/problems.ts';
import type { KeyLimits } from '#shared/rate-limits/request-limits.ts';
import { fullJitterMs } from '#shared/table/backoff.ts';
import { notWritten, type TransactItem, type WriteResult } from '#shared/table/writes.ts';
import type { CheckedPerson, PersonCheckStore } from './person-check-store.ts';
import {
  type CheckRecord,
  type CheckResult,
  isFailed,
  isInProgress,
  isLinkedAfter,
  refusalOf,
  resultOf,
  retryAfterWait,
  type WantedCheck,
  withEnd,
  withLease,
} from './person-checks.ts';

/** Time that passes for a waiting request: a monotonic clock and a pause, both in milliseconds. */
export interface WaitTimer {
  nowMs(): number;
  pause(ms: number): Promise<unknown>;
}

const MONOTONIC_TIMER: WaitTimer = { nowMs: () => performance.now(), pause: (ms) => pause(ms) };

const MIN_POLL_MS = 20;
const POLL_BACKOFF = { baseMs: 50, capMs: 400 };

/** A wait ends this long before the deadline: a check that begins later would rarely end in time. */
const CHECK_RESERVE_MS = 6000;

/** The limit of the key that makes the request. A verdict beyond it is refused. */
const FAILED_CHECKS = 'failed-checks-per-hour';

/** A request for a check. `Found`: what `findPerson` returns for a linked person. */
export interface CheckRequest<Found> extends WantedCheck {
  readonly person: CheckedPerson;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  readonly limits: Pick<KeyLimits, 'check' | 'recheck' | 'consume'>;
  findPerson(): Promise<Found | undefined>;
}

interface Context {
  readonly store: PersonCheckStore;
  readonly clock: Clock;
  readonly timer: WaitTimer;
}

/** Lets one request at a time check a person, and passes its result to the requests that waited. */
export const personChecks = (store: PersonCheckStore, clock: Clock, timer = MONOTONIC_TIMER) => ({
  /**
   * Runs `check` while this request alone holds the lease of the person. `check` makes the paid checks and the link, and writes
   * `release` in the link's transaction. Waits while another request holds the lease; if that one links the person, the result is
   * not written and the reason is what `findPerson` returns. Throws what `check` throws; the refusal of another request that sent
   * the same data at the same time; `too_many_attempts`; `rate_limit_exceeded` beyond the failed checks of the key;
   * `verification_unavailable` if the deadline comes while it waits.
   */
  async oneAtATime<Value, Found>(
    request: CheckRequest<Found>,
    check: (release: TransactItem) => Promise<WriteResult<Value, Found>>,
  ): Promise<WriteResult<Value, Found>> {
    const { person, dataHash, limits } = request;
    const acquired = await acquire({ store, clock, timer }, request);
    if ('found' in acquired) return notWritten(acquired.found);
    const { held, leaseId } = acquired;
    const ended = (record: CheckRecord, result: CheckResult) =>
      withEnd(record, { leaseId, dataHash, result }, clock());

    /** Stores the end of the check and releases the lease. */
    const end = async (result: CheckResult): Promise<void> => {
      let next = ended(held, result);
      while (next !== undefined) next = ended(await store.replace(person, next, clock()), result);
    };

    try {
      const linked = ended(held, { code: 'linked' }) ?? held;
      const result = await check(store.replacement(person, linked, clock()));
      if (!result.written) await end(undefined).catch(() => {});
      return result;
    } catch (error) {
      const result = resultOf(error);
      if (!isFailed(result)) {
        // It does not count: if it cannot be stored, the lease expires by itself.
        await end(result).catch(() => {});
        throw error;
      }
      // Counted for the key first: a request that reads this end in the record then reads the new count, too.
      const [counted] = await Promise.allSettled([limits.consume(FAILED_CHECKS)]);
      await end(result);
      throw counted.status === 'rejected' ? counted.reason : error;
    }
  },
});

export type PersonChecks = ReturnType<typeof personChecks>;

/** Waits for the lease. Returns the record that holds it, or the person if another request linked it. Throws the refusal if there is one. */
const acquire = async <Found>(
  { store, clock, timer }: Context,
  request: CheckRequest<Found>,
): Promise<{ readonly leaseId: string; readonly held: CheckRecord } | { readonly found: Found }> => {
  const { person, limits, findPerson } = request;
  const waitUntilMs = timer.nowMs() + request.deadlineMs - performance.now() - CHECK_RESERVE_MS;
  let { record } = request;
  let personReadAtVersion = 0;
  for (let polls = 0; ; polls += 1) {
    if (isLinkedAfter(record, personReadAtVersion)) {
      const found = await findPerson();
      if (found !== undefined) return { found };
      personReadAtVersion = record.version;
    }
    const checkLimit = () => (polls === 0 ? limits.check(FAILED_CHECKS) : limits.recheck(FAILED_CHECKS));
    const refusal = refusalOf(record, request, clock());
    if (refusal !== undefined) {
      if (refusal.code !== 'too_many_attempts') await checkLimit();
      throw refusal;
    }
    if (!isInProgress(record, clock())) {
      await checkLimit();
      const leaseId = randomUUID();
      const held = await store.replace(person, withLease(record, leaseId, clock()), clock());
      if (held.lease_id === leaseId) return { leaseId, held };
    }
    const pauseMs = MIN_POLL_MS + fullJitterMs(POLL_BACKOFF, polls);
    if (timer.nowMs() + pauseMs > waitUntilMs) throw busy(record, clock());
    await timer.pause(pauseMs);
    record = await store.read(person);
  }
};

const busy = (record: CheckRecord, nowMs: number) =>
  problem('verification_unavailable', {
    retryAfterSeconds: retryAfterWait(record, nowMs),
    cause: new Error('another request is checking the same person'),
  });
