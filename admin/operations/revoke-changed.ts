import { type Administration, gatewayKeyNamePrefix, keyIdInGatewayName } from '#admin/administration.ts';
import { refusal } from '#admin/refusal.ts';
import type { ApiKey } from '#admin/stores/api-key-schema.ts';
import { isUnreplayed } from '#admin/stores/table-mark.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import { finishReplay } from './replay.ts';
import { removeGatewayKey, revokeKey } from './revoke-key.ts';

/** What was revoked, and the keys of which only API Gateway knows: they were issued since and are deleted. */
export interface RevokedChanges {
  readonly revoked: readonly ApiKey[];
  readonly deleted: number;
}

const gatewayKeys = async ({ usagePlans, stage }: Administration) => {
  const keys = new Map<string, GatewayKey>();
  for await (const key of usagePlans.listKeys(gatewayKeyNamePrefix(stage))) {
    const keyId = keyIdInGatewayName(stage, key.name);
    if (keyId !== undefined) keys.set(keyId, key);
  }
  return keys;
};

/**
 * Completes a restore without the old table: revokes every key that API Gateway says was created, changed or deleted after the restore
 * point (epoch milliseconds), since the restored table has it as it was before. Throws `already_replayed`.
 */
export const revokeChanged = async (admin: Administration, sinceMs: number): Promise<RevokedChanges> => {
  if (!(await isUnreplayed(admin.table))) {
    throw refusal(
      'already_replayed',
      `The table ${admin.table.name} was not restored, or was replayed already. Nothing was changed.`,
    );
  }
  const inGateway = await gatewayKeys(admin);
  const revoked: ApiKey[] = [];
  for (const { seller_id } of await admin.sellers.list()) {
    for (const key of await admin.keys.listOf(seller_id)) {
      const registered = inGateway.get(key.key_id);
      inGateway.delete(key.key_id);
      const isUnchanged = registered !== undefined && (registered.changedAtMs ?? 0) < sinceMs;
      if (key.status !== 'revoked' && !isUnchanged) revoked.push(await revokeKey(admin, key.key_id));
    }
  }
  for (const { id } of inGateway.values()) await removeGatewayKey(admin, 'restore', id);
  const deleted = inGateway.size;
  const details = {
    since: new Date(sinceMs).toISOString(),
    revoked_keys: revoked.length,
    deleted_keys: deleted,
  };
  await finishReplay(admin, details);
  return { revoked, deleted };
};
