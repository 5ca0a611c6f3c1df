import { setTimeout as pause } from 'node:timers/promises';
import { problem } from '#shared/problems.ts';
import { type Backoff, fullJitterMs } from '#shared/table/backoff.ts';
import { type CancellationReason, isConditionFailure } from '#shared/table/writes.ts';

/** The wait between two attempts. */
export const BETWEEN_ATTEMPTS: Backoff = { baseMs: 4, capMs: 400 };

/** The log shows only the name of the cause of a `service_unavailable`. */
const namedError = (name: string, message: string): Error => Object.assign(new Error(message), { name });

/** The layout of a canceled transaction. */
interface Sent {
  /** How many items, from the first, are the store's own. The caller's follow. */
  readonly ownItems: number;
  /** The positions of the items whose condition fails when another writer was first, and may hold the next time. */
  readonly contended: readonly number[];
}

/**
 * Returns normally if the transaction can be sent again. Throws `service_unavailable` if a condition of the caller's items failed. Throws
 * another error if one of the store's own failed for another reason than a concurrent write.
 */
export const requireRetryable = (
  reasons: readonly CancellationReason[],
  { ownItems, contended }: Sent,
): void => {
  const final = reasons.findIndex(
    (reason, position) => isConditionFailure(reason) && !contended.includes(position),
  );
  if (final === -1) return;
  const codes = reasons.map(({ code }) => code).join(', ');
  const canceled = namedError('TransactionCanceled', `a transaction was canceled: ${codes}`);
  if (final < ownItems) throw canceled;
  throw problem('service_unavailable', { retryAfterSeconds: 1, cause: canceled });
};

/**
 * Runs `attempt` until it gives a result. Undefined means that other writers were first: it runs again after a random wait. The SDK
 * does not retry a canceled transaction. Throws `service_unavailable` if the next attempt would start after `deadlineMs` (monotonic clock).
 */
export const retryUntil = async <T>(
  deadlineMs: number,
  attempt: () => Promise<T | undefined>,
): Promise<T> => {
  for (let attempts = 0; ; attempts += 1) {
    const result = await attempt();
    if (result !== undefined) return result;
    const waitMs = fullJitterMs(BETWEEN_ATTEMPTS, attempts);
    if (performance.now() + waitMs > deadlineMs) {
      const conflict = namedError(
        'WriteConflict',
        `${attempts + 1} transactions met other writers until the deadline`,
      );
      throw problem('service_unavailable', { retryAfterSeconds: 1, cause: conflict });
    }
    await pause(waitMs);
  }
};
