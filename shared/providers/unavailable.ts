/** Why a provider gave no verdict. For logs and metrics, never for a caller. */
export type UnavailableReason =
  | 'timeout'
  | 'transport'
  | 'upstream'
  | 'malformed'
  | 'credentials'
  | 'quota'
  | 'balance'
  | 'blocked'
  | 'rejected'
  | 'undecided'
  | 'circuit_open'
  | 'aborted';

interface UnavailableDetails {
  readonly provider: string;
  readonly operation: string;
  readonly reason: UnavailableReason;
  /** True if the provider surely did not act on the request: it said no, or was never reached. */
  readonly refused: boolean;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

/**
 * A provider could not answer. It is never a verdict on a person. The message names provider, operation and reason, and nothing of
 * what was sent or received.
 */
export class ProviderUnavailable extends Error {
  readonly provider: string;
  readonly operation: string;
  readonly reason: UnavailableReason;
  readonly refused: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(details: UnavailableDetails) {
    super(`${details.provider} ${details.operation}: ${details.reason}`, { cause: details.cause });
    this.name = 'ProviderUnavailable';
    this.provider = details.provider;
    this.operation = details.operation;
    this.reason = details.reason;
    this.refused = details.refused;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}
