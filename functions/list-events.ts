import { systemClock } from '#shared/clock.ts';
import { type EventReads, eventReads } from '#shared/events/read-events.ts';
import { eventRoutes } from '#shared/events/routes.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { tableFromEnv } from '#shared/table/client.ts';

const route = eventRoutes['list-events'];

export interface ListEventsDeps extends EndpointDeps {
  readonly events: EventReads;
}

/** Returns a page of the events of the caller's seller. */
export const handle: Handle<typeof route, ListEventsDeps> = async ({ query, caller }, { events, clock }) => {
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

/** Builds the dependencies from the environment. */
export const bind = (): ListEventsDeps => {
  const table = tableFromEnv();
  return { clock: systemClock, rateLimiter: rateLimiterFromEnv(table), events: eventReads(table) };
};

export const handler = endpoint(route, handle, bind);
