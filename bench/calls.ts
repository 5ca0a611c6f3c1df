import { recordOperations } from './harness/recording.ts';
import { figure, ratio, report } from './harness/report.ts';
import { usageOf } from './harness/usage.ts';

/**
 * `npm run bench:calls` counts the calls of every operation, its round trips (calls that follow one another) and the capacity that the
 * database reports for them (ReturnConsumedCapacity). In brackets: the first request of a process, which also reads secrets and keys.
 * DYNAMODB_ENDPOINT selects another database than the embedded one.
 */
const recordings = (await recordOperations()).filter(({ first }) => first.calls.length > 0);
const usages = recordings.map(({ operation: { title }, first, later }) => ({
  title,
  first: usageOf(first),
  later: usageOf(later),
}));
const list = usages.find(({ title }) => title === 'GET /v1/users')?.later;
const listUnits = (list?.readUnits ?? 0) + (list?.writeUnits ?? 0);

report(
  'calls',
  'Per request of a running process; in brackets the first request of a process. Provider calls are included in calls and round trips.',
  [
    ['operation', 'database calls', 'calls', 'round trips', 'RCU', 'WCU', 'units × list'],
    ...usages.map(({ title, first, later }) => [
      title,
      String(later.databaseCalls),
      `${later.calls} (${first.calls})`,
      `${later.roundTrips} (${first.roundTrips})`,
      figure(later.readUnits, 1),
      figure(later.writeUnits, 1),
      ratio(later.readUnits + later.writeUnits, listUnits),
    ]),
  ],
);
