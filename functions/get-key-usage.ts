import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { timeText } from '#shared/clock.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { useHistory } from '#shared/rate-limits/use-history.ts';

const route = apiKeyRoutes['get-key-usage'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
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

export const build = ({ table, clock }: KeyedParts) => ({ history: useHistory(table), clock });

export const handler = keyedEndpoint(route, build, handle);
