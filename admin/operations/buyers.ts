import type { Administration } from '#admin/administration.ts';
import { ERASURES_KEPT_SECONDS } from '#admin/stores/audit-store.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { transact } from '#admin/stores/transactions.ts';
import { unlockExpression } from '#shared/one-time-codes/code-item.ts';
import { PUBLIC_AUDIENCE } from '#shared/one-time-codes/rules.ts';
import { phoneSubject } from '#shared/rate-limits/person-limits.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import {
  codesPartition,
  ENDED_LINK_PREFIX,
  type ItemKey,
  limitsPartition,
  personKey,
  phoneLinksPartition,
} from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { type LinkPointer, readPhoneLinks, userKeyOf } from '#shared/users/phone-links.ts';
import { removeUser } from './users.ts';

/** The searches and messages of the phone that were counted. */
const countsPartition = (phoneHash: string): string => limitsPartition(phoneSubject(phoneHash));

/** Reads all items of partitions. */
export const itemsOf = async (
  { table }: Administration,
  partitions: readonly string[],
): Promise<StoredItem[]> => (await Promise.all(partitions.map((pk) => queryAll(table, { pk })))).flat();

/** Reads the stored data about a phone. */
export const readBuyerData = async (admin: Administration, phone: KeyedHash) => ({
  isRegistered: (await adminBuyerStore(admin.table).find(phone)) !== undefined,
  links: await readPhoneLinks(admin.table, phone),
  codes: await itemsOf(admin, phone.keys(codesPartition)),
});

/** Counts what an erasure concerns. */
export const countsOf = ({ isRegistered, links, codes }: Awaited<ReturnType<typeof readBuyerData>>) => ({
  sellers: new Set(links.map(({ sellerId }) => sellerId)).size,
  users: links.length,
  codes: codes.length,
  registrations: Number(isRegistered),
});

const deleteItem = async ({ table }: Administration, { pk, sk }: StoredItem | ItemKey): Promise<void> => {
  await transact(table, [{ Delete: { TableName: table.name, Key: { pk, sk } } }]);
};

/**
 * Removes the user of a phone link, unless it is gone or has another phone now. A damaged table can hold a link without its user: it
 * goes too.
 */
const eraseLink = async (admin: Administration, link: LinkPointer): Promise<void> => {
  const { sellerId, userId } = link;
  const user = await getItem(admin.table, userKeyOf(link), 'id, phone_hash');
  if (user?.id === userId && phoneLinksPartition(String(user.phone_hash)) === link.pk) {
    await removeUser(admin, { sellerId, userId, reason: 'erasure' });
  }
  await deleteItem(admin, link);
};

/** Deletes an ended link, and the person item that holds it too, unless the person has a later link, or a later end with another phone. */
const eraseEnded = async (admin: Administration, ended: StoredItem): Promise<void> => {
  const sortKey = String(ended.sk);
  if (sortKey.startsWith(ENDED_LINK_PREFIX)) {
    const [, sellerId = '', personHash = ''] = sortKey.split('#');
    const Delete = {
      TableName: admin.table.name,
      Key: personKey(sellerId, personHash),
      ConditionExpression: 'attribute_not_exists(user_id) AND phone_hash = :phone',
      ExpressionAttributeValues: { ':phone': String(ended.pk).slice(phoneLinksPartition('').length) },
    };
    await transact(admin.table, [{ Delete }]);
  }
  await deleteItem(admin, ended);
};

/**
 * Erases a buyer for all sellers: the codes, the registration and every linked user. The codes go first: a sign-in in progress redeems
 * one in the transaction that registers. The users go after it: a link in progress requires the registration in its transaction. The
 * ended links go last: the buyer can end a link until its user is removed. After an
 * interruption, run it again: it removes the rest. The audit records hold counts and no phone; the first one holds its hashes for 35
 * days. Returns the counts of what it removed.
 */
export const eraseBuyer = async (admin: Administration, phone: KeyedHash) => {
  const before = await readBuyerData(admin, phone);
  const { isRegistered, codes } = before;
  for (const code of codes) await deleteItem(admin, code);
  for (const count of await itemsOf(admin, phone.keys(countsPartition))) await deleteItem(admin, count);
  const started = {
    ...admin.record({ action: 'buyer.erase_started', details: countsOf(before) }),
    phone_hashes: phone.keys((hash) => hash),
    ttl: Math.ceil(admin.clock() / 1000) + ERASURES_KEPT_SECONDS,
  };
  await adminBuyerStore(admin.table).remove(phone, started);
  const links = await readPhoneLinks(admin.table, phone);
  for (const link of links) await eraseLink(admin, link);
  const rest = await itemsOf(admin, phone.keys(phoneLinksPartition));
  for (const item of rest.filter(({ user_id }) => user_id === undefined)) await eraseEnded(admin, item);
  const counts = countsOf({ isRegistered, links, codes });
  await admin.audit.write(admin.record({ action: 'buyer.erased', details: counts }));
  return counts;
};

/** Clears the failures of one code item, with the audit record in the same transaction. False: there were none any more. */
const clearFailures = (admin: Administration, Key: ItemKey): Promise<boolean> => {
  const nowSeconds = Math.floor(admin.clock() / 1000);
  const Update = { TableName: admin.table.name, Key, ...unlockExpression(nowSeconds) };
  const seller_id = Key.sk === PUBLIC_AUDIENCE ? undefined : Key.sk;
  return transact(admin.table, [{ Update }], admin.record({ action: 'buyer.unlocked', seller_id }));
};

/**
 * Clears the failed codes of a phone and with them its locks, for all sellers. A code that was sent stays valid, and the limits on
 * sends stay. Returns the number of sellers that had failures.
 */
export const unlockBuyer = async (admin: Administration, phone: KeyedHash): Promise<number> => {
  let unlocked = 0;
  for (const { pk, sk, failures = 0 } of await itemsOf(admin, phone.keys(codesPartition))) {
    if (Number(failures) === 0) continue;
    unlocked += Number(await clearFailures(admin, { pk: String(pk), sk: String(sk) }));
  }
  return unlocked;
};
