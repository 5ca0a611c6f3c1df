import { addAbortListener } from 'node:events';

/** Why a provider gave no verdict. For logs and metrics, never for a caller. */
export type UnavailableReason =
  /** No complete response within the time of an attempt or of the request. */
  | 'timeout'
  /** Transport error: the connection was not made, or it broke. */
  | 'transport'
  /** Upstream error: the provider says that it, or a system behind it, is down. */
  | 'upstream'
  /** A response that is not JSON, or is too large. */
  | 'malformed'
  /** A response that is JSON, but no documented result. */
  | 'no_verdict'
  | 'credentials'
  | 'quota'
  | 'balance'
  /** The provider blocks our address or our account. */
  | 'blocked'
  /** The provider does not accept the request as we made it. */
  | 'rejected'
  /** The SMS provider does not accept the number. It says nothing about messages to others. */
  | 'rejected_number'
  /** The provider responded that it cannot decide. */
  | 'undecided'
  | 'circuit_open'
  /** The caller no longer wants the result. */
  | 'aborted'
  /** The provider's credentials are missing or malformed. */
  | 'misconfigured';

/** `not_reached`: no provider got it. `not_sent`: the provider refused it. `possibly_sent`: unknown, for example after a timeout. */
export const DELIVERIES = ['not_reached', 'not_sent', 'possibly_sent'] as const;
export type Delivery = (typeof DELIVERIES)[number];

/** Maps the error codes of a provider to reasons, from a list of codes for each reason. */
export const reasonsByCode = (
  codes: Partial<Record<UnavailableReason, readonly (string | number)[]>>,
): ReadonlyMap<string | number | undefined, UnavailableReason> =>
  new Map(
    Object.entries(codes).flatMap(([reason, list]) =>
      list.map((code) => [code, reason as UnavailableReason]),
    ),
  );

/**
 * What a failure says about the provider, for its circuit. `up`: it answered in its documented form, even if with an error. `unknown`:
 * nothing; the failure may be about one person, or about us.
 */
export type Health = 'up' | 'down' | 'unknown';

/** Failures after which the provider is down, unless it answered in its documented form. */
const DOWN: readonly UnavailableReason[] = ['timeout', 'transport', 'upstream', 'malformed'];

export interface CallSite {
  readonly provider: string;
  readonly operation: string;
}

/** A provider gave no verdict on a person. The message contains nothing that was sent or received. */
export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable';
  readonly provider: string;
  readonly operation: string;
  readonly reason: UnavailableReason;
  readonly delivery: Delivery;
  readonly health: Health;
  readonly retryAfterSeconds: number | undefined;
  /** A text for the caller, in place of the detail of the problem. Only the sandbox has one. */
  readonly detail: string | undefined;

  constructor(
    { provider, operation }: CallSite,
    reason: UnavailableReason,
    details: {
      delivery: Delivery;
      health?: Health;
      retryAfterSeconds?: number | undefined;
      cause?: unknown;
      detail?: string | undefined;
    },
  ) {
    super(`${provider} ${operation}: ${reason}`, { cause: details.cause });
    this.provider = provider;
    this.operation = operation;
    this.reason = reason;
    this.delivery = details.delivery;
    this.health = details.health ?? (DOWN.includes(reason) ? 'down' : 'unknown');
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.detail = details.detail;
  }
}

/** Returns the failure that an aborted signal means: `timeout` if its time ran out, else `aborted`. */
export const abortedFailure = (
  site: CallSite,
  signal: AbortSignal,
  delivery: Delivery,
): ProviderUnavailable => {
  const isTimeout = (signal.reason as { name?: unknown } | undefined)?.name === 'TimeoutError';
  return new ProviderUnavailable(site, isTimeout ? 'timeout' : 'aborted', { delivery });
};

/** Waits for work that other callers share. When the signal aborts, this caller stops waiting and the work continues. */
export const untilAborted = <T>(site: CallSite, work: Promise<T>, signal: AbortSignal): Promise<T> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const listener = addAbortListener(signal, () => reject(abortedFailure(site, signal, 'not_reached')));
  return Promise.race([work, aborted]).finally(() => listener[Symbol.dispose]());
};
