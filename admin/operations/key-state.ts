/** The state that the table wants of a key: in the items of its secrets, in API Gateway and in the authorizer cache. Every function can be run again. */

import { type Administration, requireKey, requireSeller } from '#admin/administration.ts';
import type { Seller, SellerStatus } from '#admin/stores/seller-store.ts';
import { transact } from '#admin/stores/transactions.ts';
import type { GatewayKey, UsagePlans } from '#admin/usage-plans/port.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { servedPlan } from '#shared/api-keys/known-values.ts';
import type { NewAuditRecord } from '#shared/audit.ts';
import { deadlineIn } from '#shared/deadline.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import { apiKeyKey, sellerKey } from '#shared/table/keys.ts';
import { Conflict, retryConflicts } from '#shared/table/retry-conflicts.ts';

/** How long a key is read and written again beside the changes of others. */
const TIMEOUT_MS = 10_000;

/**
 * Reads a key and its seller, and awaits `write`. If that returns undefined, one of them has changed since, and both are read again.
 * Throws `service_unavailable` after 10 s.
 */
export const writeKey = <T>(
  admin: Administration,
  { key_id, seller_id }: Pick<ApiKey, 'key_id'> & Partial<ApiKey>,
  write: (key: ApiKey, sellerStatus: SellerStatus) => Promise<T | undefined>,
): Promise<T> =>
  retryConflicts(deadlineIn(TIMEOUT_MS), async () => {
    const key = await requireKey(admin, key_id, seller_id);
    const { status } = await requireSeller(admin, key.seller_id);
    return (await write(key, status)) ?? new Conflict();
  });

/** Derives the secrets' items of a key from the key and its seller and writes them, with `record` in the same transaction. */
export const rewriteSecrets = (
  admin: Administration,
  key: ApiKey,
  record?: NewAuditRecord,
): Promise<ApiKey> =>
  writeKey(admin, key, async (current, sellerStatus) =>
    (await admin.keys.writeSecrets(current, sellerStatus, record)) ? current : undefined,
  );

/**
 * Makes API Gateway forget the authorizer decisions of before a change of a key or a seller. Then removes the mark of the change, with
 * `record` in the same transaction. The mark of a later change stays.
 */
export const flushAfterChange = async (
  { table, authorizerCache }: Administration,
  changed: ApiKey | Seller,
  record?: NewAuditRecord,
): Promise<void> => {
  await authorizerCache.flush();
  const { seller_id, unflushed_since: since } = changed;
  if (since === undefined) return;
  const Key = 'key_id' in changed ? apiKeyKey(seller_id, changed.key_id) : sellerKey(seller_id);
  const update = { UpdateExpression: 'REMOVE unflushed_since', ...ifEqual('unflushed_since', since) };
  await transact(table, [{ Update: { TableName: table.name, Key, ...update } }], record);
};

/** Finds a key in API Gateway by its name. */
export const findGatewayKey = async (
  { usagePlans, gatewayKeyName }: Administration,
  keyId: string,
): Promise<GatewayKey | undefined> => {
  const name = gatewayKeyName(keyId);
  for await (const found of usagePlans?.listKeys(name) ?? []) if (found.name === name) return found;
  return undefined;
};

/** Deletes a key from API Gateway, after it left its plans: an emulator may not do that by itself. */
export const removeGatewayKey = async (usagePlans: UsagePlans, id: string): Promise<void> => {
  for (const plan of PLAN_NAMES) await usagePlans.detach(id, plan);
  await usagePlans.deleteKey(id);
};

/**
 * Brings API Gateway to the state that the table wants of a key: an active key is in its plan, and enabled unless its seller is
 * suspended; any other is not there. Does nothing for a local service. API Gateway allows a key one plan: between two it refuses the key's requests for a fraction of a second.
 */
export const bringToGateway = async (
  admin: Administration,
  { key_id, seller_id, status, usage_id, plan }: ApiKey,
  sellerStatus?: SellerStatus,
): Promise<void> => {
  const { usagePlans } = admin;
  if (usagePlans === undefined) return;
  const found = await findGatewayKey(admin, key_id);
  const isKept = status === 'active' && found?.value === usage_id;
  if (found !== undefined && !isKept) await removeGatewayKey(usagePlans, found.id);
  if (status !== 'active') return;
  const enabled = (sellerStatus ?? (await requireSeller(admin, seller_id)).status) === 'active';
  const wanted = { name: admin.gatewayKeyName(key_id), value: usage_id, enabled };
  const { id } = isKept ? found : await usagePlans.createKey(wanted);
  const served = servedPlan(plan);
  // Which plan a later version gave to a key that is there cannot be known.
  if (!isKept || served === plan) {
    for (const other of PLAN_NAMES) if (other !== served) await usagePlans.detach(id, other);
    await usagePlans.attach(id, served);
  }
  if (isKept && found.enabled !== enabled) await usagePlans.setEnabled(id, enabled);
};
