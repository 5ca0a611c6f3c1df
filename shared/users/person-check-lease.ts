import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import { type Problem, problem } from '#shared/problems.ts';
import { fullJitterMs } from '#shared/table/backoff.ts';
import { notWritten, type TransactItem, type WriteResult } from '#shared/table/writes.ts';
import type { CheckedPerson, PersonCheckStore } from './person-check-store.ts';
import {
  type CheckRecord,
  type CheckResult,
  isFailed,
  nextStep,
  refusalProblem,
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

/**
 * The key's hourly limit of failed checks. All throw `rate_limit_exceeded`; only `consume` counts. `recheck` is for a request that has
 * waited.
 */
interface FailedCheckLimit {
  check(): Promise<void>;
  recheck(): Promise<void>;
  consume(): Promise<unknown>;
}

/** A request for a check, and what it has read. `Found`: what `findPerson` returns for a linked person. */
export interface CheckRequest<Found> {
  readonly person: CheckedPerson;
  /** The keyed hash of the birth date and phone to be checked. */
  readonly dataHash: string;
  readonly startedAtMs: number;
  /** In milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
  /** The record as this request read it first. */
  readonly record: CheckRecord;
  findPerson(): Promise<Found | undefined>;
  readonly failedChecks: FailedCheckLimit;
}

interface Held {
  readonly leaseId: string;
  readonly record: CheckRecord;
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
   * the same data at the same time; `too_many_attempts`; `verification_unavailable` if the deadline comes while it waits.
   */
  async oneAtATime<Value, Found>(
    request: CheckRequest<Found>,
    check: (release: TransactItem) => Promise<WriteResult<Value, Found>>,
  ): Promise<WriteResult<Value, Found>> {
    const context = { store, clock, timer };
    const held = await acquire(context, request);
    if ('found' in held) return notWritten(held.found);
    let result: WriteResult<Value, Found>;
    try {
      result = await check(releaseItem(context, request, held));
    } catch (error) {
      throw await endWith(context, request, { ...held, error });
    }
    if (!result.written) await release(context, request, { ...held, result: { code: 'none' } });
    return result;
  },
});

/** Waits for the lease. Returns the person instead if another request linked it. Throws the refusal if there is one. */
const acquire = async <Found>(
  context: Context,
  request: CheckRequest<Found>,
): Promise<Held | { readonly found: Found }> => {
  const { store, clock, timer } = context;
  const waitUntilMs = timer.nowMs() + request.deadlineMs - performance.now() - CHECK_RESERVE_MS;
  let { record } = request;
  let wanted: WantedCheck = { ...request, firstVersion: record.version, personReadAfterVersion: 0 };
  for (let polls = 0; ; polls += 1) {
    const checkLimit = () => (polls === 0 ? request.failedChecks.check() : request.failedChecks.recheck());
    let next = nextStep(record, wanted, clock());
    if (next.step === 'read-person') {
      const found = await request.findPerson();
      if (found !== undefined) return { found };
      wanted = { ...wanted, personReadAfterVersion: record.version };
      next = nextStep(record, wanted, clock());
    }
    if (next.step === 'refuse') {
      if (next.refusal.code !== 'too_many_attempts') await checkLimit();
      throw refusalProblem(next.refusal);
    }
    if (next.step === 'check') {
      await checkLimit();
      const held = await tryAcquire(context, request.person, record);
      if (held !== undefined) return held;
    }
    const pauseMs = MIN_POLL_MS + fullJitterMs(POLL_BACKOFF, polls);
    if (timer.nowMs() + pauseMs > waitUntilMs) throw busy(record, clock());
    await timer.pause(pauseMs);
    record = await store.read(request.person);
  }
};

/** One attempt. Undefined if another request wrote the record since it was read. */
const tryAcquire = async (
  { store, clock }: Context,
  person: CheckedPerson,
  read: CheckRecord,
): Promise<Held | undefined> => {
  const leaseId = randomUUID();
  const result = await store.replace(person, withLease(read, leaseId, clock()), clock());
  const record = result.written ? result.value : result.reason;
  // After a lost response the stored record holds this very lease.
  return record.lease?.id === leaseId ? { leaseId, record } : undefined;
};

/** The part of a link transaction that ends the check and releases the lease. */
const releaseItem = (
  { store, clock }: Context,
  { person, dataHash }: CheckRequest<unknown>,
  { leaseId, record }: Held,
): TransactItem => {
  const linked = withEnd(record, { leaseId, dataHash, result: { code: 'linked' } }, clock());
  return store.replacement(person, linked ?? record, clock());
};

/** Stores the end of a check and releases its lease. */
const end = async (
  { store, clock }: Context,
  { person, dataHash }: CheckRequest<unknown>,
  held: Held & { readonly result: CheckResult },
): Promise<void> => {
  let { record } = held;
  for (;;) {
    const next = withEnd(record, { leaseId: held.leaseId, dataHash, result: held.result }, clock());
    if (next === undefined) return;
    const stored = await store.replace(person, next, clock());
    if (stored.written) return;
    record = stored.reason;
  }
};

/** Like `end`, for a result that does not count: if it cannot be stored, the lease expires by itself. */
const release = (...args: Parameters<typeof end>): Promise<void> => end(...args).catch(() => {});

/** Stores why a check failed. Returns the error to throw: `rate_limit_exceeded` instead of a verdict beyond the key's limit. */
const endWith = async (
  context: Context,
  request: CheckRequest<unknown>,
  { error, ...held }: Held & { readonly error: unknown },
): Promise<unknown> => {
  const result = resultOf(error);
  if (!isFailed(result)) {
    await release(context, request, { ...held, result });
    return error;
  }
  // Counted for the key first: a request that reads this end in the record then reads the new count, too.
  const thrown = await request.failedChecks.consume().then(
    () => error,
    (overLimit: unknown) => overLimit,
  );
  await end(context, request, { ...held, result });
  return thrown;
};

export type PersonChecks = ReturnType<typeof personChecks>;

const busy = (record: CheckRecord, nowMs: number): Problem =>
  problem('verification_unavailable', {
    retryAfterSeconds: retryAfterWait(record, nowMs),
    cause: new Error('another request is checking the same person'),
  });
