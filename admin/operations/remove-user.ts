import type { Administration } from '#admin/administration.ts';
import { auditPut } from '#shared/audit.ts';
import { type RemovalResult, userRemovals } from '#shared/users/remove-user.ts';

/** How long a removal that conflicts with other writes is tried again. */
const TIMEOUT_MS = 30_000;

/** A user to remove, and the reason that its seller reads in the event. */
interface Removal {
  readonly sellerId: string;
  readonly userId: string;
  readonly reason: 'operator' | 'erasure';
}

/**
 * Removes a user of a seller, in the transaction of DELETE /v1/users/{id}, with the audit record in it. A user that is removed already
 * stays so, without a second record.
 */
export const removeUser = (
  admin: Administration,
  { sellerId, userId, reason }: Removal,
): Promise<RemovalResult> => {
  const details = { user_id: userId };
  const record = admin.record({ action: 'user.removed', seller_id: sellerId, details });
  return userRemovals(admin.table).removeUser(sellerId, userId, {
    removedAt: record.at,
    reason,
    deadlineMs: performance.now() + TIMEOUT_MS,
    alsoWrite: [auditPut(admin.table, record)],
  });
};
