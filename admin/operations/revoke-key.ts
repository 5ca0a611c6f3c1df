import { type Administration, requireKey, step } from '#admin/administration.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { flushChange, type WrittenChange, writeChange } from './change-key.ts';
import { withdrawPendingKey } from './issue-key.ts';

/** The gateway's key of a key, by its name: for when the table does not say its id. */
export const findGatewayKey = async (admin: Administration, keyId: string) => {
  const name = admin.gatewayKeyName(keyId);
  for await (const found of admin.usagePlans.listKeys(name)) if (found.name === name) return found;
  return undefined;
};

/** Takes a key out of the gateway: out of its plans first, for an emulator may not do so by itself. */
export const removeGatewayKey = async (admin: Administration, name: string, id: string): Promise<void> => {
  for (const plan of PLAN_NAMES) {
    await step(admin, `${name}: leave the plan ${plan}`, () => admin.usagePlans.detach(id, plan));
  }
  await step(admin, `${name}: delete the gateway's key`, () => admin.usagePlans.deleteKey(id));
};

const asRevoked = ({ gateway_key_id: _, ...key }: ApiKey): ApiKey => ({ ...key, status: 'revoked' });

/**
 * Revokes a key for good: the authorizer refuses it from the first write on, its cache is flushed, and the gateway's key goes, which
 * gives its place in the account's quota back. Revoking again finishes what was interrupted.
 */
export const revokeKey = async (admin: Administration, keyId: string): Promise<ApiKey> => {
  const key = await requireKey(admin, keyId);
  if (key.status === 'pending') {
    await withdrawPendingKey(admin, key, await findGatewayKey(admin, keyId));
    return asRevoked(key);
  }
  const change: WrittenChange = await writeChange(admin, keyId, 'revoke: refuse its secrets', (current) => ({
    after: asRevoked(current),
    action: 'key.revoked',
  }));
  await flushChange(admin, 'revoke', change);
  const gatewayKeyId = change.before.gateway_key_id ?? (await findGatewayKey(admin, keyId))?.id;
  if (gatewayKeyId !== undefined) await removeGatewayKey(admin, 'revoke', gatewayKeyId);
  return change.after;
};
