import { setImmediate as nextTurn } from 'node:timers/promises';
import { BETWEEN_ATTEMPTS, fullJitterMs } from '#shared/table/backoff.ts';

/**
 * The assumed times of DynamoDB in its Region, in milliseconds. AWS publishes none; single-digit reads and 10 to 20 ms for a
 * transaction are what users report.
 */
export const DYNAMODB_MS = {
  /** One way between the function and the service. */
  network: 1,
  read: 2,
  /** A transaction holds its items between the two. Another transaction that meets a held item is canceled. */
  beforeHold: 2,
  hold: 8,
} as const;

/** The result of links of one seller. */
export interface Played {
  readonly links: number;
  readonly succeeded: number;
  readonly transactions: number;
  /** From the first link to the last success. */
  readonly seconds: number;
  /** The milliseconds that each link took that succeeded. */
  readonly timesMs: readonly number[];
}

interface PlayOptions {
  /** A link ends so long after its start. */
  readonly deadlineMs: number;
  /** How old the first count of a link is when its transaction begins. 0: it is read right before, as the service does. */
  readonly countAgeMs?: number;
}

const TICKS_PER_MS = 10;

/** A clock that `run` sets forward from one pause to the next, until all have ended. Times in milliseconds. */
const virtualClock = () => {
  const resolvers: (() => void)[][] = [];
  let tick = 0;
  return {
    now: () => tick / TICKS_PER_MS,
    pause(ms: number): Promise<void> {
      const due = tick + Math.max(1, Math.round(ms * TICKS_PER_MS));
      resolvers[due] ??= [];
      return new Promise((resolve) => resolvers[due]?.push(resolve));
    },
    async run(): Promise<void> {
      for (; tick < resolvers.length; tick += 1) {
        if (resolvers[tick] === undefined) continue;
        for (const resolve of resolvers[tick] ?? []) resolve();
        // Those who paused until now run until their next pause.
        await nextTurn();
      }
    },
  };
};

/** Each time varies by up to 30 % either way. */
const vary = (ms: number): number => ms * (0.7 + 0.6 * Math.random());

/**
 * Plays links that begin at `starts` (milliseconds) on a model of DynamoDB, in virtual time: each reads the count, sends its transaction
 * and starts again after a conflict or a failed condition, with the service's own backoff. The age of a count is not part of its time.
 */
export const playLinks = async (
  starts: readonly number[],
  { deadlineMs, countAgeMs = 0 }: PlayOptions,
): Promise<Played> => {
  const { now, pause, run } = virtualClock();
  const { network, read, beforeHold, hold } = DYNAMODB_MS;
  const timesMs: number[] = [];
  let [userCount, transactions, lastSuccessAt] = [0, 0, 0];
  let isHeld = false;

  const link = async (startedAt: number): Promise<void> => {
    await pause(startedAt);
    for (let attempts = 0; now() - startedAt <= deadlineMs; attempts += 1) {
      await pause(vary(network + read));
      const count = userCount;
      await pause(2 * vary(network) + vary(beforeHold) + (attempts === 0 ? countAgeMs : 0));
      transactions += 1;
      if (!isHeld && count === userCount) {
        isHeld = true;
        await pause(vary(hold));
        isHeld = false;
        userCount += 1;
        await pause(vary(network));
        lastSuccessAt = now();
        timesMs.push(now() - startedAt - countAgeMs);
        return;
      }
      await pause(vary(network) + fullJitterMs(BETWEEN_ATTEMPTS, attempts));
    }
  };

  for (const startedAt of starts) void link(startedAt);
  await run();
  const seconds = (lastSuccessAt - (starts[0] ?? 0)) / 1000;
  return { links: starts.length, succeeded: userCount, transactions, seconds, timesMs };
};
