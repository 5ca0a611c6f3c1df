/**
 * The events of a seller, as it reads them. DynamoDB deletes an event days after it expired, and in no certain order, so the clock
 * decides what is kept.
 */
import type { Table } from '#shared/table/client.ts';
import { eventsPartition, MAX_ORDINAL, numberSortKey, sellerKey } from '#shared/table/keys.ts';
import { getItem, queryFirst } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { KEEP_EVENTS_DAYS } from './event.ts';
import type { ListedEvent } from './schema.ts';

/** A page of events. */
export interface EventPage {
  readonly events: readonly ListedEvent[];
  /** The number of the seller's newest event. */
  readonly last: number;
}

/** Which events are read: at most `limit` of those that a seller can read at a time. */
interface Reading {
  readonly sellerId: string;
  readonly limit: number;
  readonly nowMs: number;
}

const KEEP_MS = KEEP_EVENTS_DAYS * 86_400_000;

const eventFrom = ({ sk, type, occurred_at, user_id, reason }: StoredItem): ListedEvent => ({
  sequence: Number(sk),
  type: String(type),
  occurred_at: String(occurred_at),
  data: { user_id: String(user_id), ...(reason === undefined ? {} : { reason: String(reason) }) },
});

const isKept = ({ occurred_at }: ListedEvent, nowMs: number): boolean =>
  Date.parse(occurred_at) > nowMs - KEEP_MS;

/**
 * Returns the events up to the first gap. A Query is no snapshot: while it reads, two changes can be written of which it sees the second
 * one only.
 */
const withoutGap = (events: readonly ListedEvent[]): readonly ListedEvent[] => {
  const [first] = events;
  const gap = events.findIndex(({ sequence }, index) => sequence !== Number(first?.sequence) + index);
  return gap === -1 ? events : events.slice(0, gap);
};

const pageOf = (events: readonly ListedEvent[], last: number): EventPage => ({
  events,
  last: Math.max(last, events.at(-1)?.sequence ?? 0),
});

/** Reads the events of a seller. */
export const eventReads = (table: Table) => {
  const eventsFrom = async (sellerId: string, first: number, count: number): Promise<ListedEvent[]> => {
    const between = [numberSortKey(Math.min(first, MAX_ORDINAL)), numberSortKey(MAX_ORDINAL)] as const;
    const items = await queryFirst(table, { pk: eventsPartition(sellerId), between }, count);
    return items.map(eventFrom);
  };

  const lastOf = async (sellerId: string): Promise<number> => {
    const seller = await getItem(table, sellerKey(sellerId), 'event_count');
    return Number(seller?.event_count ?? 0);
  };

  /** Finds the oldest event that is kept among the numbers `from` to `last` by halving: one small Query for each bit of a number. */
  const oldestKept = async ({ sellerId, nowMs }: Reading, from: number, last: number): Promise<number> => {
    let [low, high] = [from, last + 1];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const [event] = await eventsFrom(sellerId, middle, 1);
      if (event === undefined || isKept(event, nowMs)) high = middle;
      else low = event.sequence + 1;
    }
    return low;
  };

  return {
    /** Returns the events after a number, or undefined if the next one is not kept or the number is higher than that of the last one. */
    async listAfter(reading: Reading, after: number): Promise<EventPage | undefined> {
      const { sellerId, limit, nowMs } = reading;
      const next = after + 1;
      const read = () => eventsFrom(sellerId, next, limit);
      const [last, found] = await Promise.all([lastOf(sellerId), read()]);
      if (found.length === 0 && after === last) return pageOf([], last);
      if (found.length === 0 && after > last) return undefined;
      // Events can be written after the Query and before the seller is read.
      const [first, ...others] = found[0]?.sequence === next ? found : await read();
      if (first?.sequence !== next || !isKept(first, nowMs)) return undefined;
      return pageOf(withoutGap([first, ...others]), last);
    },

    /** Returns the events from the oldest one that is kept. */
    async listFromOldest(reading: Reading): Promise<EventPage> {
      const { sellerId, limit, nowMs } = reading;
      const [last, found] = await Promise.all([lastOf(sellerId), eventsFrom(sellerId, 1, limit)]);
      const newest = found.at(-1);
      if (newest === undefined) return pageOf([], last);
      const isKeptNow = (event: ListedEvent) => isKept(event, nowMs);
      if (found.some(isKeptNow)) return pageOf(withoutGap(found.slice(found.findIndex(isKeptNow))), last);
      const oldest = await oldestKept(reading, newest.sequence + 1, last);
      return pageOf(withoutGap(await eventsFrom(sellerId, oldest, limit)), last);
    },
  };
};

export type EventReads = ReturnType<typeof eventReads>;
