import { setTimeout as pause } from 'node:timers/promises';
import type { Clock } from '#shared/clock.ts';
import { problem } from '#shared/problems.ts';
import type { Consumed } from '#shared/rate-limits/consumed.ts';
import { fullJitterMs } from '#shared/table/backoff.ts';
import type { NewCode } from './items.ts';
import { type Refusal, whyNotSent } from './rules.ts';
import type { CodeOwner, CodeStore, SendState } from './store.ts';

/** Sends of one phone at the same moment: one is stored, the others read again. */
const MAX_ATTEMPTS = 8;
const BACKOFF = { baseMs: 20, capMs: 200 };

interface SendRequest {
  readonly owner: CodeOwner;
  readonly code: Pick<NewCode, 'mac' | 'provider'>;
  /** False for a caller that the sends over all sellers do not limit. */
  readonly withPhoneSends: boolean;
  readonly withinPlan: Promise<unknown>;
  /** Counts the SMS. Called once, when the rules allow the send. */
  readonly consumeSms: () => Promise<Consumed>;
  readonly clock: Clock;
}

/** What an undo of the send requires. */
export interface RecordedSend {
  readonly before: SendState;
  readonly code: NewCode;
  /** The count of the SMS. */
  readonly sms: Consumed;
}

const refusalProblem = (refusal: Refusal) =>
  problem(refusal.reason, 'retryAfterSeconds' in refusal ? refusal : {});

/**
 * Stores a new code if the rules and the limits allow the send. Throws `resend_too_soon` or `too_many_attempts` if the rules refuse
 * it. Throws what `consumeSms` throws, and `service_unavailable` if others kept
 * changing the items. An error counts nothing.
 */
export const recordSend = async (
  codes: Pick<CodeStore, 'read' | 'recordSend'>,
  { owner, code, withPhoneSends, withinPlan, consumeSms, clock }: SendRequest,
): Promise<RecordedSend> => {
  let sms: Consumed | undefined;
  try {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      if (attempt > 0) await pause(fullJitterMs(BACKOFF, attempt));
      const [before] = await Promise.all([codes.read(owner, withPhoneSends), withinPlan]);
      const now = Math.floor(clock() / 1000);
      const phoneSends = (before.phoneSends?.sends ?? []).map(({ at }) => at);
      const refusal = whyNotSent(before.record, phoneSends, now);
      if (refusal !== undefined) throw refusalProblem(refusal);
      sms ??= await consumeSms();
      const newCode = { ...code, now };
      const result = await codes.recordSend(owner, before, newCode);
      if (result.written) return { before, code: newCode, sms };
    }
    throw problem('service_unavailable', { retryAfterSeconds: 1 });
  } catch (error) {
    await sms?.refund();
    throw error;
  }
};
