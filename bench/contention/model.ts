import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import { DYNAMODB_MS } from './dynamodb-times.ts';

/** The result of a burst of links of one seller. */
export interface Burst {
  readonly links: number;
  readonly succeeded: number;
  readonly transactions: number;
  /** From the first transaction to the last success. */
  readonly seconds: number;
}

/** What a link does next, and when. `read`: the read reaches the table; `begin`: its transaction; `end`: the transaction ends. */
interface Step {
  readonly at: number;
  readonly link: Link;
  readonly does: 'read' | 'begin' | 'end';
}

interface Link {
  readonly startedAt: number;
  attempts: number;
  count: number;
}

/** A queue of steps by their time. */
const agenda = () => {
  const heap: Step[] = [];
  const swap = (a: number, b: number) => {
    [heap[a], heap[b]] = [heap[b] as Step, heap[a] as Step];
  };
  const at = (index: number): number => heap[index]?.at ?? Number.POSITIVE_INFINITY;
  return {
    add(step: Step): void {
      let index = heap.push(step) - 1;
      for (let parent = (index - 1) >> 1; index > 0 && at(parent) > at(index); parent = (index - 1) >> 1) {
        swap(index, parent);
        index = parent;
      }
    },
    next(): Step | undefined {
      const last = heap.length - 1;
      if (last < 0) return undefined;
      swap(0, last);
      const first = heap.pop();
      for (let index = 0; ; ) {
        const child = at(2 * index + 1) <= at(2 * index + 2) ? 2 * index + 1 : 2 * index + 2;
        if (at(child) >= at(index)) return first;
        swap(index, child);
        index = child;
      }
    },
  };
};

/** Each time varies by up to 30 % either way. */
const vary = (ms: number): number => ms * (0.7 + 0.6 * Math.random());

/**
 * Plays links that begin at `starts` (milliseconds) on a model of DynamoDB, in virtual time: each reads the count, sends its transaction
 * and starts again after a conflict or a failed condition with the service's own backoff, until `deadlineMs` after its start.
 */
export const playLinks = (starts: readonly number[], deadlineMs: number, backoff: Backoff): Burst => {
  const steps = agenda();
  const { network, read, beforeHold, hold } = DYNAMODB_MS;
  let [userCount, transactions, succeeded, endedAt] = [0, 0, 0, 0];
  let isHeld = false;

  const again = (link: Link, at: number): void => {
    const next = at + vary(network) + fullJitterMs(backoff, link.attempts);
    link.attempts += 1;
    if (next - link.startedAt <= deadlineMs)
      steps.add({ at: next + vary(network + read), link, does: 'read' });
  };

  const plays: Record<Step['does'], (link: Link, at: number) => void> = {
    read(link, at) {
      link.count = userCount;
      steps.add({ at: at + 2 * vary(network) + vary(beforeHold), link, does: 'begin' });
    },
    begin(link, at) {
      transactions += 1;
      if (isHeld || link.count !== userCount) return again(link, at);
      isHeld = true;
      steps.add({ at: at + vary(hold), link, does: 'end' });
    },
    end(_link, at) {
      isHeld = false;
      userCount += 1;
      succeeded += 1;
      endedAt = at;
    },
  };

  for (const startedAt of starts)
    steps.add({
      at: startedAt + vary(network + read),
      link: { startedAt, attempts: 0, count: 0 },
      does: 'read',
    });
  for (let step = steps.next(); step !== undefined; step = steps.next()) plays[step.does](step.link, step.at);
  return { links: starts.length, succeeded, transactions, seconds: (endedAt - (starts[0] ?? 0)) / 1000 };
};
