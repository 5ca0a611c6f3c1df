import { PROBLEMS, problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import type { Locale, SellerTemplates } from './templates.ts';

export interface CodeMessage {
  /** In E.164. */
  readonly phone: string;
  readonly code: string;
  readonly locale: Locale;
  /** Those of the seller. The stage's are in the provider secret. */
  readonly templates: SellerTemplates;
}

export interface SmsSender {
  /**
   * Sends a code and resolves with the name of its provider. Never sends twice: no provider documents an idempotency key.
   * Throws ProviderUnavailable; its `delivery` says whether the message was possibly sent.
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

/**
 * Returns the name of the provider that accepted a code. Throws `sms_unavailable`, after `undo` if the message was not sent; if it was
 * possibly sent, the code may still arrive, and the detail says so. `isRefused`: false if no provider was reached.
 */
export const deliverCode = async (
  sms: SmsSender,
  { deadlineMs, ...message }: CodeMessage & { readonly deadlineMs: number },
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
