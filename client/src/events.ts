import type { components } from './generated/openapi.ts';

/** One page of events. */
export type EventPage = components['schemas']['EventPage'];
/** A change of one of your users. `sequence` is its number: store it, and go on after it. */
export type UserEvent = EventPage['data'][number];

/** Where to begin. */
export interface EventsStart {
  /** The number of the last event that you stored. Left out: from the oldest event that the service keeps. */
  readonly after?: number | undefined;
}

/** The wait after a page that has events, and the longest wait while there are none. */
const MIN_INTERVAL_MS = 1000;
const MAX_INTERVAL_MS = 30_000;

/** How the events are read. */
interface Reading {
  /** Reads the page after a number. It repeats a request until the service answers it. */
  readonly read: (after: number | undefined, signal: AbortSignal) => Promise<EventPage>;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

async function* pollEvents(
  { read, sleep }: Reading,
  start: number | undefined,
  signal: AbortSignal,
): AsyncGenerator<UserEvent, void, void> {
  let after = start;
  for (let intervalMs = MIN_INTERVAL_MS; ; intervalMs = Math.min(2 * intervalMs, MAX_INTERVAL_MS)) {
    const { data, has_more: hasMore } = await read(after, signal);
    for (const event of data) {
      // Only an event moves the place: last_sequence may be newer than the page.
      after = event.sequence;
      yield event;
      signal.throwIfAborted();
    }
    if (data.length > 0) intervalMs = MIN_INTERVAL_MS;
    if (data.length === 0 || !hasMore) await sleep(intervalMs, signal);
  }
}

/**
 * Iterates over the events, and waits for new ones. It ends when `signal` is aborted. Throws what no repetition can help, such as
 * `events_expired`.
 */
export async function* followEvents(
  reading: Reading,
  { after }: EventsStart,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<UserEvent, void, void> {
  try {
    yield* pollEvents(reading, after, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
