import { type Administration, gatewayKeyNamePrefix, keyIdInGatewayName } from '#admin/administration.ts';
import { requireUnreplayed } from '#admin/stores/table-mark.ts';
import type { GatewayKey } from '#admin/usage-plans/port.ts';
import type { ApiKey } from '#shared/api-keys/api-key.ts';
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

/** API Gateway is told of a change before the table is written, and its clock may differ from that of DynamoDB. */
const MARGIN_MS = 60_000;

/** Returns whether a key is as it was at the restore point. A seller rotates its own key without API Gateway, so nobody knows of such a key. */
const isUnchanged = (key: ApiKey, registered: GatewayKey | undefined, sinceMs: number): boolean =>
  registered !== undefined &&
  (registered.changedAtMs ?? 0) < sinceMs - MARGIN_MS &&
  !key.scopes.includes('key:rotate');

/**
 * Completes a restore without the old table: revokes every key that API Gateway says was created, changed or deleted after the restore
 * point (epoch milliseconds), since the restored table has it as it was before, and every key that its seller may have rotated. Throws `already_replayed`.
 */
export const revokeChanged = async (admin: Administration, sinceMs: number): Promise<RevokedChanges> => {
  await requireUnreplayed(admin.table);
  const inGateway = await gatewayKeys(admin);
  const revoked: ApiKey[] = [];
  for (const { seller_id } of await admin.sellers.list()) {
    for (const key of await admin.keys.listOf(seller_id)) {
      const registered = inGateway.get(key.key_id);
      inGateway.delete(key.key_id);
      if (key.status !== 'revoked' && !isUnchanged(key, registered, sinceMs))
        revoked.push(await revokeKey(admin, key.key_id));
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

/**
 * Accepts a restored table as it is, for a Region or an account that is lost with its table and its API Gateway keys. Keys that were
 * revoked after the restore point are valid again. Throws `already_replayed`.
 */
export const acceptRestored = async (admin: Administration): Promise<void> => {
  await requireUnreplayed(admin.table);
  await finishReplay(admin, { from: 'nothing' });
};
