import { AdminError } from '#admin/admin-error.ts';
import { type Administration, newId, requireSeller } from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { type NewSecret, newSecret } from '#shared/api-keys/secret.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { randomBase62 } from '#shared/base62.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import { areGrantable, type Scope } from '#shared/scopes.ts';
import { bringToGateway } from './key-state.ts';
import { requireName } from './sellers.ts';

/** The properties of a new key. `expiresAt`: epoch seconds. */
export interface KeyRequest {
  readonly sellerId: string;
  readonly name: string;
  readonly plan: PlanName;
  readonly scopes: readonly Scope[];
  readonly expiresAt?: number | undefined;
}

/** A key with its secret in plain text. It exists only in the result of an issue or a rotation. */
export interface IssuedKey {
  readonly key: ApiKey;
  readonly secret: string;
}

/** 238 random bits. API Gateway accepts 20 to 128 characters. */
const USAGE_ID_LENGTH = 40;

/** An expiry (epoch seconds) as the audit records it. */
export const expiryText = (expiresAt: number | undefined): string =>
  expiresAt === undefined ? 'never' : new Date(expiresAt * 1000).toISOString();

/** Throws `bad_input` for scopes that a key cannot have: none, or some that belong together without each other. */
export const requireGrantable = (scopes: readonly Scope[]): void => {
  if (scopes.length === 0) {
    throw new AdminError('bad_input', 'A key must have at least one scope. Revoke a key to take all away.');
  }
  if (!areGrantable(scopes)) {
    throw new AdminError(
      'bad_input',
      'buyers:links is for the buyer app: grant it together with buyers:register.',
    );
  }
};

/** Throws `bad_input` if the expiry (epoch seconds) is not in the future. */
export const requireFutureExpiry = (admin: Administration, expiresAt: number | undefined): void => {
  if (expiresAt !== undefined && expiresAt * 1000 <= admin.clock()) {
    throw new AdminError('bad_input', 'The expiry must be in the future.');
  }
};

const pendingKey = (request: KeyRequest, secret: NewSecret['summary']): ApiKey => ({
  seller_id: request.sellerId,
  key_id: newId('key'),
  name: requireName(request.name),
  scopes: [...new Set(request.scopes)],
  plan: request.plan,
  usage_id: randomBase62(USAGE_ID_LENGTH),
  status: 'pending',
  created_at: secret.created_at,
  expires_at: request.expiresAt,
  secrets: [{ ...secret, number: 1 }],
  version: 1,
});

/**
 * Removes a key whose issue was not finished. Its secret was never shown. The key in API Gateway is deleted first, so an interrupted
 * withdrawal leaves a pending key again. Returns false if the key is no longer pending: its issue ended, or another admin withdrew it.
 */
export const withdrawPendingKey = async (
  admin: Administration,
  key: ApiKey,
  details?: NewAuditRecord['details'],
): Promise<boolean> => {
  await bringToGateway(admin, key);
  const { seller_id, key_id } = key;
  return admin.keys.removePending(key, admin.record({ action: 'key.withdrawn', seller_id, key_id, details }));
};

/**
 * Issues a key. Until the last step the key is pending, and the authorizer finds no secret of it. The last step activates the key in
 * one transaction with the audit record. After an interruption before that, `reconcile` withdraws the key.
 */
export const issueKey = async (admin: Administration, request: KeyRequest): Promise<IssuedKey> => {
  requireGrantable(request.scopes);
  requireFutureExpiry(admin, request.expiresAt);
  const { seller_id, status } = await requireSeller(admin, request.sellerId);
  const suspended = () =>
    new AdminError('seller_suspended', `${seller_id} is suspended. To issue a key, resume the seller first.`);
  if (status !== 'active') throw suspended();
  const { text, summary } = newSecret(admin.keyPrefix, { created_at: admin.now(), created_by: 'admin' });
  const pending = pendingKey(request, summary);
  if (!(await admin.keys.createPending(pending))) throw suspended();

  const active: ApiKey = { ...pending, status: 'active' };
  const { key_id, plan, scopes, expires_at } = active;
  const details = { plan, scopes: scopes.join(' '), expires_at: expiryText(expires_at) };
  const record = admin.record({ action: 'key.issued', seller_id, key_id, details });
  try {
    await bringToGateway(admin, active, 'active');
    if (!(await admin.keys.save({ before: pending, after: active, sellerStatus: 'active', record }))) {
      if ((await requireSeller(admin, seller_id)).status !== 'active') throw suspended();
      throw new AdminError('changed_meanwhile', `Another admin withdrew ${key_id}. Issue another key.`);
    }
  } catch (error) {
    // The quota of API Gateway is used up, or another admin was faster.
    if (error instanceof AdminError) await withdrawPendingKey(admin, pending);
    throw error;
  }
  return { key: active, secret: text };
};
