import { type Administration, requireKey, step } from '#admin/administration.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { changeKey } from './change-key.ts';
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
 * Revokes a key for good. After the first write the authorizer refuses its secrets. Then the authorizer cache is flushed and the key
 * is deleted from API Gateway, which frees one key of the account's quota. Running it again completes what was interrupted; the
 * audit gets one record.
 */
export const revokeKey = async (admin: Administration, keyId: string): Promise<ApiKey> => {
  const key = await requireKey(admin, keyId);
  if (key.status === 'pending') {
    await withdrawPendingKey(admin, key, { registered: await findGatewayKey(admin, keyId) });
    return asRevoked(key);
  }
  const revoked = await changeKey(admin, keyId, {
    name: 'revoke',
    write: 'make its secrets invalid',
    action: 'key.revoked',
    plan: (current) => ({ after: asRevoked(current) }),
  });
  const registered = await findGatewayKey(admin, keyId);
  if (registered !== undefined) await removeGatewayKey(admin, 'revoke', registered.id);
  return revoked;
};
