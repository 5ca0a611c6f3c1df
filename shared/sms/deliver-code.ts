import { problem } from '#shared/problems.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import type { SmsSender } from './port.ts';

/** Said to a caller when the provider does not say how long. */
const REFUSED_RETRY_AFTER_SECONDS = 10;
/** The message may be on its way: the cool-down of the phone stands. */
const UNSURE_RETRY_AFTER_SECONDS = 60;

/** Kept back from the deadline to undo a send that was refused. */
const UNDO_RESERVE_MS = 3000;

/**
 * Hands a code to the SMS provider. If the provider surely did not take it, `undo` gives the cool-down back; after a time-out the
 * message may still arrive, so the code stays valid. Throws `sms_unavailable`.
 */
export const deliverCode = async (
  sms: SmsSender,
  { phone, code }: { readonly phone: string; readonly code: string },
  deadlineMs: number,
  undo: () => Promise<unknown>,
): Promise<void> => {
  try {
    await sms.sendCode(
      phone,
      code,
      AbortSignal.timeout(Math.max(0, deadlineMs - Date.now() - UNDO_RESERVE_MS)),
    );
  } catch (error) {
    const unavailable = error instanceof ProviderUnavailable ? error : undefined;
    if (unavailable?.refused) await undo();
    if (unavailable === undefined) throw error;
    throw problem('sms_unavailable', {
      retryAfterSeconds: unavailable.refused
        ? (unavailable.retryAfterSeconds ?? REFUSED_RETRY_AFTER_SECONDS)
        : UNSURE_RETRY_AFTER_SECONDS,
      cause: unavailable,
    });
  }
};
