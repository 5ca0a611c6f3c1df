import { problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import type { SmsSender } from './port.ts';

/** The Retry-After of a message that was not sent, if the provider names no time. */
const NOT_SENT_RETRY_AFTER_SECONDS = 10;
/** The Retry-After of a message that was possibly sent: the cool-down of the phone. */
const POSSIBLY_SENT_RETRY_AFTER_SECONDS = 60;

/** Reserved before the deadline to undo a send. */
const UNDO_RESERVE_MS = 3000;

/** A code to send to a phone (E.164). */
interface Message {
  readonly phone: string;
  readonly code: string;
  /** When the response must be ready, in milliseconds of the monotonic clock (performance.now()). */
  readonly deadlineMs: number;
}

/**
 * Sends a code and returns the name of the provider that accepted it. If the message was not sent, runs `undo` and throws
 * `sms_unavailable`. If it was possibly sent, throws `sms_unavailable` without an undo: the code may still arrive.
 */
export const deliverCode = async (
  sms: SmsSender,
  { phone, code, deadlineMs }: Message,
  undo: () => Promise<unknown>,
): Promise<string> => {
  const timeoutMs = Math.max(0, Math.floor(deadlineMs - performance.now() - UNDO_RESERVE_MS));
  try {
    return (await sms.sendCode(phone, code, AbortSignal.timeout(timeoutMs))).provider;
  } catch (error) {
    if (!(error instanceof ProviderUnavailable)) throw error;
    const isNotSent = error.delivery === 'not_sent';
    if (isNotSent) await undo();
    throw problem('sms_unavailable', {
      retryAfterSeconds: isNotSent
        ? (error.retryAfterSeconds ?? NOT_SENT_RETRY_AFTER_SECONDS)
        : POSSIBLY_SENT_RETRY_AFTER_SECONDS,
      cause: error,
    });
  }
};
