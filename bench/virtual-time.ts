import { syncBuiltinESMExports } from 'node:module';
import timers, { setImmediate as nextTurn } from 'node:timers/promises';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';

/** In these turns of the event loop a function does all that it can do without another response or timer. */
const TURNS = 3;

export type VirtualTime = ReturnType<typeof startVirtualTime>;

/**
 * Replaces the monotonic clock and the timers of this process: time passes only when nothing can go on without it, and then at once. So a
 * busy machine changes no result. `callMs`: the time that a call of a table takes, by the name of its command; tables that were opened
 * before are not slowed down.
 */
export const startVirtualTime = (callMs: (command: string) => number) => {
  const sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  let nowMs = 0;
  let calls = 0;
  let lastCall: Promise<unknown> = Promise.resolve();

  const sleep = (ms: number): Promise<void> =>
    new Promise((wake) => {
      sleepers.push({ untilMs: nowMs + Math.max(0, ms), wake });
    });

  /** One call after the other, in their order: many at once would meet the timeouts of the client. */
  const called = async <Result>(call: () => Promise<Result>): Promise<Result> => {
    const before = lastCall;
    const done = Promise.withResolvers<void>();
    lastCall = done.promise;
    calls += 1;
    await before;
    try {
      return await call();
    } finally {
      calls -= 1;
      done.resolve();
    }
  };

  performance.now = () => nowMs;
  // A deadline that is checked by the clock holds; a signal would count real time.
  AbortSignal.timeout = () => new AbortController().signal;
  Object.assign(timers, { setTimeout: sleep });
  syncBuiltinESMExports();
  const { prototype } = DynamoDBDocumentClient as unknown as {
    prototype: { send(command: object, ...options: unknown[]): Promise<unknown> };
  };
  const { send } = prototype;
  prototype.send = async function (this: unknown, command, ...options) {
    const ms = callMs(command.constructor.name);
    await sleep(ms / 2);
    try {
      return await called(() => send.call(this, command, ...options));
    } finally {
      await sleep(ms / 2);
    }
  };

  return {
    sleep,
    now: () => nowMs,
    /** Runs work to its end. */
    async run<Result>(work: () => Promise<Result>): Promise<Result> {
      let isOver = false;
      const result = work().finally(() => {
        isOver = true;
      });
      while (!isOver) {
        for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
        if (calls > 0) {
          await lastCall;
          continue;
        }
        const next = sleepers.reduce(
          (a, b) => (b.untilMs < a.untilMs ? b : a),
          sleepers[0] as (typeof sleepers)[0],
        );
        if (next === undefined) continue;
        sleepers.splice(sleepers.indexOf(next), 1);
        nowMs = next.untilMs;
        next.wake();
      }
      return result;
    },
  };
};
