import { type Administration, requireSeller } from '#admin/administration.ts';
import { batchGetAll } from '#admin/stores/batches.ts';
import { auditPut } from '#shared/audit.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { externalIdKey, userKey } from '#shared/table/keys.ts';
import { itemOf } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { readPhoneLinks } from '#shared/users/phone-links.ts';
import { userReads } from '#shared/users/read-users.ts';
import { type RemovalResult, userRemover } from '#shared/users/remove-user.ts';
import type { User } from '#shared/users/schema.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { userFrom } from '#shared/users/user-item.ts';

/** A user, with the seller that it is linked to. */
export type UserOfSeller = User & { readonly seller_id: string };

/** Reads users of sellers by id, in batches. One that is gone, or no longer as its pointer says, is left out. */
const readUsers = async (
  { table }: Administration,
  named: readonly { readonly seller_id: string; readonly userId: string }[],
  isWanted: (user: StoredItem) => boolean = () => true,
): Promise<UserOfSeller[]> => {
  const users = named.flatMap(({ seller_id, userId }) => {
    const ordinal = ordinalOf(userId);
    return ordinal === undefined ? [] : [{ seller_id, userId, key: userKey(seller_id, ordinal) }];
  });
  const items = await batchGetAll(
    table,
    users.map(({ key }) => key),
  );
  return users.flatMap(({ seller_id, userId, key }) => {
    const item = itemOf(items, key);
    return item?.id === userId && isWanted(item) ? [{ seller_id, ...userFrom(item) }] : [];
  });
};

/** Finds the user with an id among the users of these sellers. */
export const findById = (admin: Administration, sellerIds: readonly string[], userId: string) =>
  readUsers(
    admin,
    sellerIds.map((seller_id) => ({ seller_id, userId })),
  );

/** Finds the users of these sellers with an external id: at most one of each. */
export const findByExternalId = async (
  admin: Administration,
  sellerIds: readonly string[],
  externalId: string,
): Promise<UserOfSeller[]> => {
  const keyOf = (sellerId: string) => externalIdKey(sellerId, externalId);
  const pointers = await batchGetAll(admin.table, sellerIds.map(keyOf));
  const named = sellerIds.flatMap((seller_id) => {
    const pointer = itemOf(pointers, keyOf(seller_id));
    return pointer === undefined ? [] : [{ seller_id, userId: String(pointer.user_id) }];
  });
  return readUsers(admin, named, ({ external_id }) => external_id === externalId);
};

/** Finds the users of these sellers with a phone. */
export const findByPhone = async (
  admin: Administration,
  sellerIds: readonly string[],
  phone: KeyedHash,
): Promise<UserOfSeller[]> => {
  const pointers = await readPhoneLinks(admin.table, phone);
  const named = pointers
    .map(({ sellerId, userId }) => ({ seller_id: sellerId, userId }))
    .filter(({ seller_id }) => sellerIds.includes(seller_id));
  return readUsers(admin, named, ({ phone_hash }) => phone.isOf(phone_hash));
};

/** A user to remove, and the reason that its seller reads in the event. */
interface Removal {
  readonly sellerId: string;
  readonly userId: string;
  readonly reason: 'operator' | 'erasure';
}

/**
 * Removes a user of a seller, in the transaction of DELETE /v1/users/{id}, with the audit record in it. A user that is removed already
 * stays so, without a second record. Other changes of the seller delay it by at most 30 s.
 */
export const removeUser = (
  admin: Administration,
  { sellerId, userId, reason }: Removal,
): Promise<RemovalResult> => {
  const details = { user_id: userId };
  const record = admin.record({ action: 'user.removed', seller_id: sellerId, details });
  return userRemover(admin.table)(sellerId, userId, {
    removedAt: record.at,
    reason,
    alsoWrite: [auditPut(admin.table, record)],
  });
};

/** Stops after the current user; receives how many are removed. */
interface RemovalProgress {
  readonly signal: AbortSignal;
  readonly onProgress: (removed: number) => void;
}

/** Users that are read at the same time. */
const PAGE_SIZE = 100;

/**
 * Removes the users that a seller has at the beginning, one after the other, since its changes are serial. Returns how many it removed, and
 * whether it was stopped. After an interruption, run it again: it removes the rest.
 */
export const removeAllUsers = async (
  admin: Administration,
  sellerId: string,
  { signal, onProgress }: RemovalProgress,
): Promise<{ readonly removed: number; readonly isStopped: boolean }> => {
  const { user_count: last } = await requireSeller(admin, sellerId);
  const { listAfter } = userReads(admin.table);
  let removed = 0;
  for (let [place, isMore] = [0, true]; isMore; ) {
    const { users, nextAfter } = await listAfter(sellerId, place, PAGE_SIZE);
    for (const { id } of users) {
      place = ordinalOf(id) ?? last;
      if (signal.aborted || place > last) return { removed, isStopped: signal.aborted };
      const result = await removeUser(admin, { sellerId, userId: id, reason: 'operator' });
      removed += Number(result === 'removed');
      onProgress(removed);
    }
    isMore = nextAfter !== null;
  }
  return { removed, isStopped: false };
};
