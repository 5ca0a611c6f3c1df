import { type Administration, step } from '#admin/administration.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { transact } from '#admin/stores/transactions.ts';
import {
  codesPartition,
  type ItemKey,
  personKey,
  phoneLinksPartition,
  REFUSAL_PREFIX,
  sellerOfPhoneLink,
  userKey,
} from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import { ordinalOf } from '#shared/users/user-id.ts';
import { removeUser } from './remove-user.ts';

/** As long as a backup of the table can be restored: 35 days. */
const HASHES_KEPT_SECONDS = 35 * 86_400;

const itemsOf = async ({ table }: Administration, partitions: readonly string[]) => {
  const items = (await Promise.all(partitions.map((pk) => queryAll(table, { pk })))).flat();
  return items.map(({ pk, sk, user_id }) => ({ key: { pk: String(pk), sk: String(sk) }, user_id }));
};

/** The links of sellers with a phone: the user of each, and the key of its phone link item. `traces`: ended links, and searches of the buyer. */
const linksOf = async (admin: Administration, phoneHashes: readonly string[]) => {
  const items = await itemsOf(admin, phoneHashes.map(phoneLinksPartition));
  return {
    links: items
      .filter(({ user_id }) => user_id !== undefined)
      .map(({ key, user_id }) => ({
        key,
        userId: String(user_id),
        sellerId: sellerOfPhoneLink(key.sk),
      })),
    traces: items.flatMap(({ key, user_id }) => (user_id === undefined ? [key] : [])),
  };
};

const codesOf = (admin: Administration, phoneHashes: readonly string[]) =>
  itemsOf(admin, phoneHashes.map(codesPartition));

/** Reads the stored data about a phone. `phoneHashes`: its hashes under every key still in use. */
export const readBuyerData = async (admin: Administration, phoneHashes: readonly string[]) => ({
  isRegistered: (await adminBuyerStore(admin.table).find(phoneHashes)) !== undefined,
  ...(await linksOf(admin, phoneHashes)),
  codes: await codesOf(admin, phoneHashes),
});

/** Counts what an erasure concerns. */
export const countsOf = ({
  isRegistered,
  links,
  codes,
}: Omit<Awaited<ReturnType<typeof readBuyerData>>, 'traces'>) => ({
  sellers: new Set(links.map(({ sellerId }) => sellerId)).size,
  users: links.length,
  codes: codes.length,
  registrations: Number(isRegistered),
});

const deleteItem = async ({ table }: Administration, Key: ItemKey): Promise<void> => {
  await transact(table, [{ Delete: { TableName: table.name, Key } }]);
};

type Link = Awaited<ReturnType<typeof linksOf>>['links'][number];

/**
 * Removes the user of a phone link, unless it is gone or has another phone now. A damaged table can hold a link without its user: it
 * goes too.
 */
const eraseLink = async (admin: Administration, { key, sellerId, userId }: Link): Promise<void> => {
  const user = await getItem(admin.table, userKey(sellerId, ordinalOf(userId) ?? 0), 'id, phone_hash');
  if (user?.id === userId && phoneLinksPartition(String(user.phone_hash)) === key.pk) {
    await removeUser(admin, { sellerId, userId, reason: 'erasure' });
  }
  await deleteItem(admin, key);
};

/** Deletes a refusal with the person item that holds it too, unless the person has a later link or refusal by another phone, and the searches of the buyer. */
const eraseTrace = async (admin: Administration, key: ItemKey): Promise<void> => {
  if (key.sk.startsWith(REFUSAL_PREFIX)) {
    const [, sellerId = '', personHash = ''] = key.sk.split('#');
    const Delete = {
      TableName: admin.table.name,
      Key: personKey(sellerId, personHash),
      ConditionExpression: 'attribute_not_exists(user_id) AND phone_hash = :phone',
      ExpressionAttributeValues: { ':phone': key.pk.slice(phoneLinksPartition('').length) },
    };
    await transact(admin.table, [{ Delete }]);
  }
  await deleteItem(admin, key);
};

/**
 * Erases a buyer for all sellers: the codes, the registration and every linked user. The codes go first: a sign-in in progress redeems
 * one in the transaction that registers. The users go after it: a link in progress requires the registration in its transaction. The
 * refusals go last: the buyer can end a link until its user is removed. After an
 * interruption, run it again: it removes the rest. The audit records hold counts and no phone; the first one holds its hashes for 35
 * days. Returns the counts of what it removed.
 */
export const eraseBuyer = async (admin: Administration, phoneHashes: readonly string[]) => {
  const before = await readBuyerData(admin, phoneHashes);
  const { isRegistered, codes } = before;
  for (const { key } of codes) await step(admin, 'erase: delete a code item', () => deleteItem(admin, key));
  const started = {
    ...admin.record({ action: 'buyer.erase_started', details: countsOf(before) }),
    phone_hashes: phoneHashes,
    ttl: Math.ceil(admin.clock() / 1000) + HASHES_KEPT_SECONDS,
  };
  await step(admin, 'erase: remove the registration', () =>
    adminBuyerStore(admin.table).remove(phoneHashes, started),
  );

  const { links } = await linksOf(admin, phoneHashes);
  for (const link of links) await step(admin, 'erase: remove a user', () => eraseLink(admin, link));
  const { traces } = await linksOf(admin, phoneHashes);
  for (const key of traces) await step(admin, 'erase: delete an ended link', () => eraseTrace(admin, key));
  const counts = countsOf({ isRegistered, links, codes });
  await step(admin, 'erase: write the audit record', () =>
    admin.audit.write(admin.record({ action: 'buyer.erased', details: counts })),
  );
  return counts;
};
