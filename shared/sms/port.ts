import { PROBLEMS, problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import type { Locale, SellerTemplates } from './templates.ts';

/** A one-time code to send. */
export interface CodeMessage {
  /** In E.164. */
  readonly phone: string;
  readonly code: string;
  readonly locale: Locale;
  /** The templates that the seller has of its own. The stage's are in the provider secret. */
  readonly templates: SellerTemplates;
}

export interface SmsSender {
  /**
   * Sends a one-time code to a phone. Resolves with the name of the provider that has accepted the message. Never sends twice: no
   * provider documents an idempotency key. Throws ProviderUnavailable; its `delivery` says whether the message was possibly sent.
   */
  sendCode(message: CodeMessage, signal: AbortSignal): Promise<{ readonly provider: string }>;
}

/** The name of the operation in errors, logs and metrics. */
export const SEND_CODE = 'send_code';

/** The Retry-After of a send that reached no provider, if the failure names no time. */
const NOT_REACHED_RETRY_AFTER_SECONDS = 10;
/** The Retry-After of a send that reached a provider: the cool-down of the phone. */
const REACHED_RETRY_AFTER_SECONDS = 60;

/** Reserved before the deadline to undo a send. */
const UNDO_RESERVE_MS = 3000;

interface TimedMessage extends CodeMessage {
  /** When the response must be ready, in milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
}

/**
 * Sends a code and returns the name of the provider that accepted it. If the message was not sent, runs `undo` and throws
 * `sms_unavailable`; `isRefused` is false if no provider was reached. If the message was possibly sent, throws `sms_unavailable`
 * with a detail that says so, and without an undo: the code may still arrive.
 */
export const deliverCode = async (
  sms: SmsSender,
  { deadlineMs, ...message }: TimedMessage,
  undo: (isRefused: boolean) => Promise<unknown>,
): Promise<string> => {
  const timeoutMs = Math.max(0, Math.floor(deadlineMs - performance.now() - UNDO_RESERVE_MS));
  try {
    return (await sms.sendCode(message, AbortSignal.timeout(timeoutMs))).provider;
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    const isReached = error.delivery !== 'not_reached';
    const isPossiblySent = error.delivery === 'possibly_sent';
    if (!isPossiblySent) await undo(isReached);
    throw problem('sms_unavailable', {
      retryAfterSeconds: isReached
        ? REACHED_RETRY_AFTER_SECONDS
        : (error.retryAfterSeconds ?? NOT_REACHED_RETRY_AFTER_SECONDS),
      detail: isPossiblySent ? PROBLEMS.sms_unavailable.otherDetail : error.detail,
      cause: error,
    });
  }
};
