import { eventReads } from '#shared/events/read-events.ts';
import { eventRoutes } from '#shared/events/routes.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';

const route = eventRoutes['list-events'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { query, caller },
  { events, clock },
) => {
  const { after, limit } = query;
  const reading = { sellerId: caller.sellerId, limit, nowMs: clock() };
  const page = await (after === undefined
    ? events.listFromOldest(reading)
    : events.listAfter(reading, after));
  if (page === undefined) throw problem('events_expired');
  const { events: data, last } = page;
  return {
    status: 200,
    body: { data, last_sequence: last, has_more: data.length > 0 && data.at(-1)?.sequence !== last },
  };
};

export const build = ({ table, clock }: KeyedParts) => ({ events: eventReads(table), clock });

export const handler = keyedEndpoint(route, build, handle);
