import { type Call, operationOf } from './recorder.ts';
import type { RecordedRequest } from './recording.ts';

/** What one request uses. */
export interface Usage {
  /** Calls to DynamoDB, Secrets Manager, KMS and the providers. */
  readonly calls: number;
  readonly databaseCalls: number;
  /** How many calls follow one another: calls that are made at once count as one. */
  readonly roundTrips: number;
  readonly providerRoundTrips: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  readonly signatures: number;
  /** Bytes of the response and of the log lines. */
  readonly responseBytes: number;
  readonly logBytes: number;
}

const READS: readonly string[] = ['GetItem', 'BatchGetItem', 'Query'];

const unitsOf = (calls: readonly Call[]): number => calls.reduce((sum, { units }) => sum + units, 0);

const roundTripsOf = (calls: readonly Call[]): number =>
  new Set(calls.map(({ roundTrip }) => roundTrip)).size;

/** Returns what a recorded request used. */
export const usageOf = ({ calls, result, logBytes }: Omit<RecordedRequest, 'event'>): Usage => {
  const isRead = (call: Call) => READS.includes(operationOf(call));
  return {
    calls: calls.length,
    databaseCalls: calls.filter(({ target }) => target?.startsWith('DynamoDB_')).length,
    roundTrips: roundTripsOf(calls),
    providerRoundTrips: roundTripsOf(calls.filter(({ target }) => target === undefined)),
    readUnits: unitsOf(calls.filter(isRead)),
    writeUnits: unitsOf(calls.filter((call) => !isRead(call))),
    signatures: calls.filter((call) => operationOf(call) === 'Sign').length,
    responseBytes: Buffer.byteLength((result as { readonly body?: string }).body ?? ''),
    logBytes,
  };
};
