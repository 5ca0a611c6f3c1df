import { PROBLEMS, Problem, problem } from '#shared/problems.ts';
import { type Delivery, ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { currentDeadline } from '#shared/request-context.ts';
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

/** Reserved before the deadline of the request to undo a send. */
const UNDO_RESERVE_MS = 3000;

/**
 * Returns the name of the provider that accepted a code. Throws `sms_unavailable`: if the message was possibly sent, the code may still
 * arrive, and the detail says so.
 */
export const deliverCode = async (sms: SmsSender, message: CodeMessage): Promise<string> => {
  const timeoutMs = Math.max(0, Math.floor(currentDeadline().leftMs() - UNDO_RESERVE_MS));
  try {
    return (await sms.sendCode(message, AbortSignal.timeout(timeoutMs))).provider;
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    throw problem('sms_unavailable', {
      retryAfterSeconds:
        error.delivery === 'not_reached'
          ? (error.retryAfterSeconds ?? NOT_REACHED_RETRY_AFTER_SECONDS)
          : REACHED_RETRY_AFTER_SECONDS,
      ...(error.delivery === 'possibly_sent'
        ? { reason: 'possibly_sent', detail: PROBLEMS.sms_unavailable.otherDetail }
        : { reason: 'not_sent', detail: error.detail }),
      cause: error,
    });
  }
};

/** Returns the delivery of the message after an error of `deliverCode`: `possibly_sent` after an error of our own code. */
export const deliveryOf = (error: unknown): Delivery => {
  const cause = error instanceof Problem ? error.cause : error;
  return cause instanceof ProviderUnavailable ? cause.delivery : 'possibly_sent';
};
