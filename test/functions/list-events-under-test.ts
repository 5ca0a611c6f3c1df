import { BatchWriteCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { handle } from '#functions/list-events.ts';
import { eventPut, KEEP_EVENTS_DAYS, type UserEvent } from '#shared/events/event.ts';
import { eventReads } from '#shared/events/read-events.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { eventKey } from '#shared/table/keys.ts';
import { createSeller } from '#test/shared/users/linking.ts';
import { useTable } from '#test/table/use-table.ts';
import { callerContext, functionUnderTest } from './harness.ts';

/** The time of every request. */
const NOW = Date.parse('2026-11-21T08:00:00Z');
const KEEP_MS = KEEP_EVENTS_DAYS * 86_400_000;
const timeBefore = (ms: number): string => new Date(NOW - ms).toISOString();

/** Times of events. */
export const YOUNG = timeBefore(0);
/** A request that still runs can have written an event before this one. */
export const MINUTE_OLD = timeBefore(60_000);
export const OLDEST_KEPT = timeBefore(KEEP_MS - 1);
export const EXPIRED = timeBefore(KEEP_MS);

/** The query of a request. */
export type Query = Readonly<Record<string, string>>;

/** Returns the numbers of a page instead of its events. */
const numbersOf = ({ data, ...page }: { readonly data: readonly { readonly sequence: number }[] }) => ({
  ...page,
  data: data.map(({ sequence }) => sequence),
});

/** The events of one seller in a table. */
const sellerWithEvents = (table: Table, sellerId: string) => {
  const itemOf = (sequence: number, occurredAt: string) => {
    const event: UserEvent = { userId: `usr_${sequence}`, occurredAt, type: 'user.linked' };
    return { ...eventPut(table, eventKey(sellerId, sequence), event).Put?.Item };
  };

  const read = (query: Query = {}, on: Table = table) =>
    functionUnderTest(routes['list-events'], handle, on, {
      events: eventReads(on),
    }).call({ query, authorizer: { ...callerContext, sellerId, keyId: sellerId, scopes: 'events:read' } });

  return {
    sellerId,
    read,

    /** Returns a page with the numbers of its events. */
    async page(query: Query = {}, on: Table = table) {
      const { status, json } = await read(query, on);
      expect(status).toBe(200);
      return numbersOf(json);
    },

    putEvent: (sequence: number, occurredAt: string) =>
      table.client.send(new PutCommand({ TableName: table.name, Item: itemOf(sequence, occurredAt) })),

    countEvents: (event_count: number) => createSeller(table, sellerId, { event_count }),

    /** Stores events with these times, from number 1 on. `undefined`: the database has deleted it. */
    async put(times: readonly (string | undefined)[]): Promise<void> {
      await createSeller(table, sellerId, { event_count: times.length });
      const writes = times.flatMap((time, index) =>
        time === undefined ? [] : [{ PutRequest: { Item: itemOf(index + 1, time) } }],
      );
      for (let start = 0; start < writes.length; start += 25) {
        const RequestItems = { [table.name]: writes.slice(start, start + 25) };
        await table.client.send(new BatchWriteCommand({ RequestItems }));
      }
    },
  };
};

/** Opens the table of a test file; `newSeller` returns another seller at each call. */
export const useEvents = () => {
  const table = useTable();
  let count = 0;
  const newSeller = async (times: readonly (string | undefined)[] = []) => {
    count += 1;
    const seller = sellerWithEvents(table, `sel_${count}`);
    await seller.put(times);
    return seller;
  };
  return { table, newSeller };
};

/** `count` events of one time. */
export const times = (count: number, time: string = YOUNG): string[] =>
  Array.from({ length: count }, () => time);

export const numbers = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);
