import type { Usage } from './usage.ts';

/** List prices of us-east-1 in 2025 and 2026 in USD, without free tiers. Look up those of your Region. */
export const USD = {
  // Per million.
  restRequests: 3.5,
  lambdaRequests: 0.2,
  readUnits: 0.125,
  writeUnits: 0.625,
  kmsSignatures: 15,
  tracesRecorded: 5,
  // Per unit.
  lambdaGbSecondArm: 0.0000133334,
  logGb: 0.5,
  egressGb: 0.09,
} as const;

/** The share of requests that X-Ray records, apart from the first one of each second. */
const TRACED = 0.05;
/** Assumed: CPU time of a request at 1,024 MB, and the time of a round trip to DynamoDB or KMS. */
const CPU_MS = 6;
const ROUND_TRIP_MS = 5;
/** The lines that Lambda itself and the access log of API Gateway write for each request. */
const PLATFORM_LOG_BYTES = 900;

/** Returns the billed milliseconds of a request whose provider calls take `providerMs`. */
export const billedMs = ({ roundTrips, providerRoundTrips }: Usage, providerMs: number): number =>
  CPU_MS + (roundTrips - providerRoundTrips) * ROUND_TRIP_MS + (providerRoundTrips > 0 ? providerMs : 0);

/** Returns the USD that a million runs of a function cost, at 1 GB of memory, without API Gateway. */
export const costOfMillion = (usage: Usage, providerMs: number): number =>
  USD.lambdaRequests +
  billedMs(usage, providerMs) * 1000 * USD.lambdaGbSecondArm +
  usage.readUnits * USD.readUnits +
  usage.writeUnits * USD.writeUnits +
  usage.signatures * USD.kmsSignatures +
  ((usage.logBytes + PLATFORM_LOG_BYTES) / 1000) * USD.logGb +
  (usage.responseBytes / 1000) * USD.egressGb +
  TRACED * USD.tracesRecorded;
