/** Why a provider gave no verdict. For logs and metrics, never for a caller. */
export type UnavailableReason =
  /** No whole answer within the time of an attempt, or of the request. */
  | 'timeout'
  /** The connection was not made, or broke. */
  | 'transport'
  /** The provider says that it, or what stands behind it, is down. */
  | 'upstream'
  /** An answer that is not in the provider's documented form. */
  | 'malformed'
  | 'credentials'
  | 'quota'
  | 'balance'
  /** Our address or our account is shut out. */
  | 'blocked'
  /** The provider does not take the request as we made it. */
  | 'rejected'
  /** The provider answered that it cannot tell. */
  | 'undecided'
  | 'circuit_open'
  /** The caller no longer wants the answer. */
  | 'aborted'
  /** The provider's credentials are not there, or are not in their form. */
  | 'misconfigured';

/** Who was asked for what. */
export interface CallSite {
  readonly provider: string;
  readonly operation: string;
}

interface UnavailableDetails extends CallSite {
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
    super(
      `${details.provider} ${details.operation}: ${details.reason}`,
      details.cause === undefined ? undefined : { cause: details.cause },
    );
    this.name = 'ProviderUnavailable';
    this.provider = details.provider;
    this.operation = details.operation;
    this.reason = details.reason;
    this.refused = details.refused;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** `throw unavailable(site, 'quota', { refused: true })` */
export const unavailable = (
  site: CallSite,
  reason: UnavailableReason,
  details: Pick<UnavailableDetails, 'refused' | 'retryAfterSeconds' | 'cause'>,
): ProviderUnavailable => new ProviderUnavailable({ ...site, reason, ...details });

/** The failure that an aborted signal stands for: its time ran out, or nobody waits for the answer any more. */
export const unavailableBy = (site: CallSite, signal: AbortSignal, refused: boolean): ProviderUnavailable => {
  const reason =
    (signal.reason as { name?: unknown } | undefined)?.name === 'TimeoutError' ? 'timeout' : 'aborted';
  return unavailable(site, reason, { refused });
};
