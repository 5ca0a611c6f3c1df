import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { systemClock, timeText } from '#shared/clock.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { type UseHistory, useHistory } from '#shared/rate-limits/use-history.ts';
import { tableFromEnv } from '#shared/table/client.ts';

const route = apiKeyRoutes['get-key-usage'];

export interface GetKeyUsageDeps extends EndpointDeps {
  readonly history: UseHistory;
}

/** Returns what the caller's key used, by hour and by day. */
export const handle: Handle<typeof route, GetKeyUsageDeps> = async (
  { query, caller },
  { history, clock },
) => {
  const { hours, days } = await history.read(caller.keyId, query.days, clock());
  return {
    status: 200,
    body: {
      data: hours.map(({ startsAt, requests, counts }) => ({
        hour: timeText(startsAt),
        requests,
        refused_links: counts['refused-links-per-hour'],
        failed_checks: counts['failed-checks-per-hour'],
        sms: counts['sms-per-hour'],
        failed_verifies: counts['failed-verifies-per-hour'],
      })),
      paid_checks: days.map(({ startsAt, paidChecks }) => ({
        day: timeText(startsAt).slice(0, 10),
        count: paidChecks,
      })),
    },
  };
};

/** Builds the dependencies from the environment. */
export const bind = (): GetKeyUsageDeps => {
  const table = tableFromEnv();
  return { clock: systemClock, rateLimiter: rateLimiterFromEnv(table), history: useHistory(table) };
};

export const handler = endpoint(route, handle, bind);
