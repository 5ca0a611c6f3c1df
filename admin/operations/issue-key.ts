import { type Administration, requireSeller, step } from '#admin/administration.ts';
import { Refusal, refusal } from '#admin/refusal.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { type NewSecret, newSecret } from '#shared/api-keys/secret.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { randomBase62 } from '#shared/base62.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';
import { areGrantable, type Scope } from '#shared/scopes.ts';
import { requireName } from './create-seller.ts';

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

/** Throws `bad_input` for scopes that a key cannot have together. */
export const requireGrantable = (scopes: readonly Scope[]): void => {
  if (!areGrantable(scopes)) {
    throw refusal('bad_input', 'buyers:links is for the buyer app: grant it together with buyers:register.');
  }
};

/** Throws `bad_input` if the expiry (epoch seconds) is not in the future. */
export const requireFutureExpiry = (admin: Administration, expiresAt: number | undefined): void => {
  if (expiresAt !== undefined && expiresAt * 1000 <= admin.clock()) {
    throw refusal('bad_input', 'The expiry must be in the future.');
  }
};

const pendingKey = (admin: Administration, request: KeyRequest, secret: NewSecret['summary']): ApiKey => ({
  seller_id: request.sellerId,
  key_id: admin.ids('key'),
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

/** A pending key to withdraw: its key in API Gateway, if there is one, and details for the audit record. */
interface Withdrawal {
  readonly registered?: Pick<GatewayKey, 'id'> | undefined;
  readonly details?: NewAuditRecord['details'];
}

/**
 * Removes a key whose issue was not completed. Its secret was never shown. The key in API Gateway is deleted first, so an interrupted
 * withdrawal leaves a pending key again.
 */
export const withdrawPendingKey = async (
  admin: Administration,
  key: ApiKey,
  { registered, details = {} }: Withdrawal,
): Promise<void> => {
  if (registered !== undefined) {
    await step(admin, 'issue: withdraw from API Gateway', async () => {
      await admin.usagePlans.detach(registered.id, key.plan);
      await admin.usagePlans.deleteKey(registered.id);
    });
  }
  const { seller_id, key_id } = key;
  const record = admin.record({ action: 'key.withdrawn', seller_id, key_id, details });
  await step(admin, 'issue: withdraw from the table', () => admin.keys.removePending(key, record));
};

/** Creates a pending key in API Gateway. Withdraws it if API Gateway refuses it, because its quota is used up. */
const register = async (admin: Administration, pending: ApiKey): Promise<GatewayKey> => {
  const key = { name: admin.gatewayKeyName(pending.key_id), value: pending.usage_id, enabled: true };
  try {
    return await admin.usagePlans.createKey(key);
  } catch (error) {
    if (error instanceof Refusal) await withdrawPendingKey(admin, pending, {});
    throw error;
  }
};

/**
 * Issues a key. Until the last step the key is pending, and the authorizer finds no secret of it. The last step activates the key in
 * one transaction with the audit record. After an interruption before that, `reconcile` withdraws the key.
 */
export const issueKey = async (admin: Administration, request: KeyRequest): Promise<IssuedKey> => {
  if (request.scopes.length === 0) throw refusal('bad_input', 'A key must have at least one scope.');
  requireGrantable(request.scopes);
  requireFutureExpiry(admin, request.expiresAt);
  const seller = await requireSeller(admin, request.sellerId);
  const suspended = () =>
    refusal('seller_suspended', `${seller.seller_id} is suspended. To issue a key, resume the seller first.`);
  if (seller.status !== 'active') throw suspended();
  const { text, summary } = newSecret(admin.keyPrefix, { created_at: admin.now(), created_by: 'admin' });
  const pending = pendingKey(admin, request, summary);

  const isRecorded = await step(admin, 'issue: record as pending', () => admin.keys.createPending(pending));
  if (!isRecorded) throw suspended();
  const registered = await step(admin, 'issue: register with API Gateway', () => register(admin, pending));
  await step(admin, 'issue: attach to the plan', () => admin.usagePlans.attach(registered.id, pending.plan));
  const active: ApiKey = { ...pending, status: 'active', gateway_key_id: registered.id };
  const record = admin.record({
    action: 'key.issued',
    seller_id: active.seller_id,
    key_id: active.key_id,
    details: {
      plan: active.plan,
      scopes: active.scopes.join(' '),
      expires_at: expiryText(active.expires_at),
    },
  });
  const isActivated = await step(admin, 'issue: activate', () =>
    admin.keys.save({ before: pending, after: active, sellerStatus: 'active', record }),
  );
  if (!isActivated) {
    await withdrawPendingKey(admin, pending, { registered });
    throw suspended();
  }
  return { key: active, secret: text };
};
