import { type Call, operationOf } from './harness/recorder.ts';
import { recordOperations } from './harness/recording.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:calls` counts the calls of every operation, its round trips (calls that follow one another) and the capacity that the
 * database reports for them (ReturnConsumedCapacity).
 */
const READS: readonly string[] = ['GetItem', 'BatchGetItem', 'Query'];

const isOfDatabase = ({ target }: Call): boolean => target?.startsWith('DynamoDB_') ?? false;
const isRead = (call: Call): boolean => READS.includes(operationOf(call));
const unitsOf = (calls: readonly Call[]): string =>
  figure(
    calls.reduce((sum, { units }) => sum + units, 0),
    1,
  );
const roundTripsOf = (calls: readonly Call[]): number =>
  new Set(calls.map(({ roundTrip }) => roundTrip)).size;

const recordings = (await recordOperations()).filter(({ first }) => first.calls.length > 0);

report(
  'calls',
  'Per request of a running process; in brackets the first request of a process. Provider calls are included in calls and round trips.',
  [
    ['operation', 'database calls', 'calls', 'round trips', 'RCU', 'WCU'],
    ...recordings.map(({ operation, first: { calls: firstCalls }, later: { calls } }) => [
      operation.title,
      String(calls.filter(isOfDatabase).length),
      `${calls.length} (${firstCalls.length})`,
      `${roundTripsOf(calls)} (${roundTripsOf(firstCalls)})`,
      unitsOf(calls.filter(isRead)),
      unitsOf(calls.filter((call) => !isRead(call))),
    ]),
  ],
);
