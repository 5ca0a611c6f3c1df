/** DynamoDB deletes an event days after it expired, and in no certain order, so the clock decides what is kept. */
import { DAY_SECONDS } from '#shared/clock.ts';
import type { Table } from '#shared/table/client.ts';
import { eventsPartition, MAX_ORDINAL, numberSortKey, sellerKey } from '#shared/table/keys.ts';
import { getItem, queryFirst } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { KEEP_EVENTS_DAYS } from './event.ts';
import type { ListedEvent } from './schema.ts';

interface EventPage {
  readonly events: readonly ListedEvent[];
  readonly last: number;
}

interface Reading {
  readonly sellerId: string;
  readonly limit: number;
  readonly nowMs: number;
}

const KEEP_MS = KEEP_EVENTS_DAYS * DAY_SECONDS * 1000;

const eventFrom = ({ sk, type, occurred_at, user_id, reason }: StoredItem): ListedEvent => ({
  sequence: Number(sk),
  type: String(type),
  occurred_at: String(occurred_at),
  data: { user_id: String(user_id), ...(reason === undefined ? {} : { reason: String(reason) }) },
});

const isKept = ({ occurred_at }: ListedEvent, nowMs: number): boolean =>
  Date.parse(occurred_at) > nowMs - KEEP_MS;

/** A function ends within 30 seconds, so an older event was written before this request. */
const wasWritten = ({ occurred_at }: ListedEvent, nowMs: number): boolean =>
  Date.parse(occurred_at) < nowMs - 60_000;

/** A Query is no snapshot: while it reads, two changes can be written of which it sees the second one only. */
const withoutGap = (events: readonly ListedEvent[]): readonly ListedEvent[] => {
  const [first] = events;
  const gap = events.findIndex(({ sequence }, index) => sequence !== Number(first?.sequence) + index);
  return gap === -1 ? events : events.slice(0, gap);
};

const pageOf = (events: readonly ListedEvent[], last: number): EventPage => ({
  events,
  last: Math.max(last, events.at(-1)?.sequence ?? 0),
});

export const eventReads = (table: Table) => {
  /** `newerThan`: an ISO time. */
  const eventsFrom = async (
    { sellerId, limit }: Pick<Reading, 'sellerId' | 'limit'>,
    first: number,
    newerThan?: string,
  ): Promise<ListedEvent[]> => {
    const between = [numberSortKey(Math.min(first, MAX_ORDINAL)), numberSortKey(MAX_ORDINAL)] as const;
    const range = { pk: eventsPartition(sellerId), between };
    const above = newerThan === undefined ? undefined : (['occurred_at', newerThan] as const);
    return (await queryFirst(table, { ...range, above }, limit)).map(eventFrom);
  };

  const lastOf = async (sellerId: string): Promise<number> => {
    const seller = await getItem(table, sellerKey(sellerId), 'event_count');
    return Number(seller?.event_count ?? 0);
  };

  /** If the events of the first Query have all expired, the next one filters by the time. */
  const fromOldest = async (reading: Reading): Promise<ListedEvent[]> => {
    const { nowMs } = reading;
    const found = await eventsFrom(reading, 1);
    const oldest = found.findIndex((event) => isKept(event, nowMs));
    const newest = found.at(-1);
    if (oldest > -1 || newest === undefined) return found.slice(oldest);
    return eventsFrom(reading, newest.sequence + 1, new Date(nowMs - KEEP_MS).toISOString());
  };

  return {
    /** Undefined if the next event is not kept, or the number is higher than that of the last one. */
    async listAfter(reading: Reading, after: number): Promise<EventPage | undefined> {
      const { sellerId, nowMs } = reading;
      const next = after + 1;
      const read = () => eventsFrom(reading, next);
      const [last, found] = await Promise.all([lastOf(sellerId), read()]);
      if (found.length === 0 && after >= last) return after === last ? pageOf([], last) : undefined;
      // Events can be written after the Query and before the seller is read.
      const [first, ...others] = found[0]?.sequence === next ? found : await read();
      if (first?.sequence !== next || !isKept(first, nowMs)) return undefined;
      return pageOf(withoutGap([first, ...others]), last);
    },

    async listFromOldest(reading: Reading): Promise<EventPage> {
      const [last, found] = await Promise.all([lastOf(reading.sellerId), fromOldest(reading)]);
      // A Query that ran while the first event was written can have missed the events before it. A Query that begins now sees them.
      const isSure = last === 0 || (found[0] !== undefined && wasWritten(found[0], reading.nowMs));
      return pageOf(withoutGap(isSure ? found : await fromOldest(reading)), last);
    },
  };
};
