import { type Administration, requireKey, step } from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { flushAfterChange } from './change-key.ts';
import { withdrawPendingKey } from './issue-key.ts';

/** Finds a key in API Gateway by its name. */
export const findGatewayKey = async (admin: Administration, keyId: string) => {
  const name = admin.gatewayKeyName(keyId);
  for await (const found of admin.usagePlans.listKeys(name)) if (found.name === name) return found;
  return undefined;
};

/** Deletes a key from API Gateway, after it left its plans: an emulator may not do that by itself. */
export const removeGatewayKey = async (admin: Administration, name: string, id: string): Promise<void> => {
  for (const plan of PLAN_NAMES) {
    await step(admin, `${name}: leave the plan ${plan}`, () => admin.usagePlans.detach(id, plan));
  }
  await step(admin, `${name}: delete the key from API Gateway`, () => admin.usagePlans.deleteKey(id));
};

const asRevoked = ({ gateway_key_id: _, ...key }: ApiKey): ApiKey => ({ ...key, status: 'revoked' });

/**
 * Revokes a key for good. The first write succeeds whoever else changes the key, and ends its rotations. Then the authorizer refuses its
 * secrets, its cache is flushed, and the key is deleted from API Gateway, which frees one key of the account's quota. Running it again
 * completes what was interrupted; the audit gets one record.
 */
export const revokeKey = async (admin: Administration, keyId: string): Promise<ApiKey> => {
  const key = await requireKey(admin, keyId);
  if (key.status === 'pending') {
    await withdrawPendingKey(admin, key, { registered: await findGatewayKey(admin, keyId) });
    await step(admin, 'revoke: flush the authorizer cache', () => admin.usagePlans.flushAuthorizerCache());
    return asRevoked(key);
  }
  const record = admin.record({ action: 'key.revoked', seller_id: key.seller_id, key_id: keyId });
  await step(admin, 'revoke: mark the key', () => admin.keys.revoke(key, record));
  // Read after the mark: no secret is missing from it.
  const revoked = await requireKey(admin, keyId);
  await step(admin, 'revoke: make its secrets invalid', () => admin.keys.revokeSecrets(revoked));
  await flushAfterChange(admin, 'revoke', revoked);
  const registered = await findGatewayKey(admin, keyId);
  if (registered !== undefined) await removeGatewayKey(admin, 'revoke', registered.id);
  return revoked;
};
