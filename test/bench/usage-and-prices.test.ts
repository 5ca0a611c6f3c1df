import { billedMs, costOfMillion } from '#bench/cost/prices.ts';
import { type Usage, usageOf } from '#bench/cost/usage.ts';
import type { Call } from '#bench/harness/recorder.ts';

const call = (target: string | undefined, roundTrip: number, units: number): Call => ({
  roundTrip,
  target,
  method: 'POST',
  path: '/',
  headers: {},
  body: '{}',
  response: { status: 200, type: 'application/json', body: '{}' },
  units,
});

describe('usageOf', () => {
  const usage = usageOf({
    calls: [
      call('DynamoDB_20120810.UpdateItem', 0, 1),
      call('DynamoDB_20120810.BatchGetItem', 0, 5),
      call(undefined, 1, 0),
      call(undefined, 1, 0),
      call('TrentService.Sign', 2, 0),
      call('DynamoDB_20120810.TransactWriteItems', 3, 10),
    ],
    result: { statusCode: 200, body: 'سلام' },
    logBytes: 300,
  });

  it('counts calls that are made at once as one round trip', () => {
    expect(usage).toMatchObject({ calls: 6, databaseCalls: 3, roundTrips: 4, providerRoundTrips: 1 });
  });

  it('separates the units of reads from those of writes', () => {
    expect(usage).toMatchObject({ readUnits: 5, writeUnits: 11 });
  });

  it('counts signatures, and bytes of the response in UTF-8', () => {
    expect(usage).toMatchObject({ signatures: 1, responseBytes: 8, logBytes: 300 });
  });
});

describe('the prices', () => {
  const nothing: Usage = {
    calls: 0,
    databaseCalls: 0,
    roundTrips: 0,
    providerRoundTrips: 0,
    readUnits: 0,
    writeUnits: 0,
    signatures: 0,
    responseBytes: 0,
    logBytes: 0,
  };

  it('bill 5 ms for each round trip to AWS and the given time for the providers', () => {
    expect(billedMs({ ...nothing, roundTrips: 3, providerRoundTrips: 1 }, 700)).toBe(6 + 2 * 5 + 700);
  });

  it('add the units, the signatures and the bytes of a million requests', () => {
    const usage = {
      ...nothing,
      readUnits: 2,
      writeUnits: 1,
      signatures: 1,
      responseBytes: 5000,
      logBytes: 2000,
    };
    const added = 2 * 0.125 + 0.625 + 15 + 5 * 0.09 + 2 * 0.5;
    expect(costOfMillion(usage, 0) - costOfMillion(nothing, 0)).toBeCloseTo(added, 10);
  });
});
