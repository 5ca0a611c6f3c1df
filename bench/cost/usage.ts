import { type Call, operationOf } from '../harness/recorder.ts';
import type { RecordedRequest } from '../harness/recording.ts';

const READS: readonly string[] = ['GetItem', 'BatchGetItem', 'Query'];

const unitsOf = (calls: readonly Call[]): number => calls.reduce((sum, { units }) => sum + units, 0);

const roundTripsOf = (calls: readonly Call[]): number =>
  new Set(calls.map(({ roundTrip }) => roundTrip)).size;

/** Returns what a recorded request used. */
export const usageOf = ({ calls, result, logBytes }: Omit<RecordedRequest, 'event'>) => {
  const isRead = (call: Call) => READS.includes(operationOf(call));
  return {
    /** Calls to DynamoDB, Secrets Manager, KMS and the providers. */
    calls: calls.length,
    databaseCalls: calls.filter(({ target }) => target?.startsWith('DynamoDB_')).length,
    /** How many calls follow one another: calls that are made at once count as one. */
    roundTrips: roundTripsOf(calls),
    providerRoundTrips: roundTripsOf(calls.filter(({ target }) => target === undefined)),
    readUnits: unitsOf(calls.filter(isRead)),
    writeUnits: unitsOf(calls.filter((call) => !isRead(call))),
    signatures: calls.filter((call) => operationOf(call) === 'Sign').length,
    responseBytes: Buffer.byteLength(result.body ?? ''),
    logBytes,
  };
};

export type Usage = ReturnType<typeof usageOf>;
