import { billedMs, costOfMillion, USD } from './cost/prices.ts';
import { usageOf } from './cost/usage.ts';
import { recordOperations } from './harness/recording.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:calls` counts the calls of every operation, its round trips (calls that follow one another) and the capacity that the
 * database reports for them (ReturnConsumedCapacity). Then it prints what the requests cost.
 */

/** Assumed: the time that an operation waits for its providers, in milliseconds. */
const PROVIDER_MS: Readonly<Record<string, number>> = { 'create-user': 1500, 'send-otp': 700 };

const operations = (await recordOperations())
  .filter(({ first }) => first.calls.length > 0)
  .map(({ operation, first, later }) => ({ ...operation, first: usageOf(first), later: usageOf(later) }));

report(
  'calls',
  'Per request of a running process; in brackets the first request of a process. Provider calls are included in calls and round trips.',
  [
    ['operation', 'database calls', 'calls', 'round trips', 'RCU', 'WCU'],
    ...operations.map(({ title, first, later }) => [
      title,
      String(later.databaseCalls),
      `${later.calls} (${first.calls})`,
      `${later.roundTrips} (${first.roundTrips})`,
      figure(later.readUnits, 1),
      figure(later.writeUnits, 1),
    ]),
  ],
);

/** Returns the billed milliseconds of a request and the USD of a million. The authorizer runs within a request that another row counts. */
const costOf = ({ name, later }: (typeof operations)[number]) => {
  const providerMs = PROVIDER_MS[name] ?? 0;
  const gatewayUsd = name === 'authorizer' ? 0 : USD.restRequests;
  return { ms: billedMs(later, providerMs), usd: costOfMillion(later, providerMs) + gatewayUsd };
};

report(
  'cost',
  'List prices of us-east-1 without free tiers. A request of a key that is not in the cache of API Gateway pays for the authorizer too.',
  [
    ['operation', 'billed ms', 'USD per million'],
    ...operations
      .filter(({ later }) => later.calls > 0)
      .map((operation) => {
        const { ms, usd } = costOf(operation);
        return [operation.title, figure(ms), figure(usd, 2)];
      }),
  ],
);
