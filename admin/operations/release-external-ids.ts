/** The external ids of a restored table that its replay gives to other users. */
import { batchWriteAll } from '#admin/stores/batch-write.ts';
import type { Table } from '#shared/table/client.ts';
import { phoneLinkKey, userKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { copyOf } from '#shared/users/user-item.ts';
import { sellerIdOf } from './replay-rules.ts';

/** Puts a user of the restored table without its external id, and its phone link. */
const releaseExternalId = async (restored: Table, sellerId: string, userId: string): Promise<void> => {
  const ordinal = ordinalOf(userId) ?? 0;
  const { external_id, ...user } = (await getItem(restored, userKey(sellerId, ordinal))) ?? {};
  if (user.id !== userId) return;
  const link = { ...phoneLinkKey(String(user.phone_hash), sellerId, ordinal), ...copyOf(user) };
  await batchWriteAll(
    restored,
    [user, link].map((Item) => ({ PutRequest: { Item } })),
  );
};

/**
 * Takes an external id from a user of the restore point if the old table gives it to a user who was linked since: the correction that
 * released it is lost, and two users must not have it. `claims`: the items of external ids to be copied; `stored`: those of the restored table.
 */
export const releaseExternalIds = async (
  restored: Table,
  claims: readonly StoredItem[],
  stored: (item: StoredItem) => StoredItem | undefined,
): Promise<void> => {
  for (const claim of claims) {
    const holder = stored(claim);
    if (holder !== undefined && holder.id !== claim.id) {
      await releaseExternalId(restored, sellerIdOf(claim), String(holder.id));
    }
  }
};
