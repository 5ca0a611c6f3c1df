import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { type Administration, step } from '#admin/administration.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { queryAll } from '#admin/stores/query-all.ts';
import { codesPartition, type ItemKey, phoneLinksPartition } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';
import { removeUser } from './remove-user.ts';

/** A link of a seller with the phone, and the key of its phone link item. */
interface PhoneLink {
  readonly sellerId: string;
  readonly userId: string;
  readonly key: ItemKey;
}

/** The stored data about a phone. */
export interface BuyerData {
  readonly isRegistered: boolean;
  readonly links: readonly PhoneLink[];
  /** The keys of its one-time code items. */
  readonly codes: readonly ItemKey[];
}

/** The counts of what an erasure removed. */
export interface ErasedCounts {
  readonly sellers: number;
  readonly users: number;
  readonly codes: number;
  readonly registrations: number;
}

const itemsOf = async ({ table }: Administration, partitions: readonly string[]): Promise<StoredItem[]> => {
  const items: StoredItem[] = [];
  for (const pk of partitions) for await (const page of queryAll(table, { pk })) items.push(...page);
  return items;
};

const keyOf = ({ pk, sk }: StoredItem): ItemKey => ({ pk: String(pk), sk: String(sk) });

const linksOf = async (admin: Administration, phoneHashes: readonly string[]): Promise<PhoneLink[]> =>
  (await itemsOf(admin, phoneHashes.map(phoneLinksPartition))).map((item) => {
    const key = keyOf(item);
    return { key, sellerId: key.sk.slice(0, key.sk.lastIndexOf('#')), userId: String(item.id) };
  });

const codesOf = async (admin: Administration, phoneHashes: readonly string[]): Promise<ItemKey[]> =>
  (await itemsOf(admin, phoneHashes.map(codesPartition))).map(keyOf);

const sellersOf = (links: readonly PhoneLink[]): number =>
  new Set(links.map(({ sellerId }) => sellerId)).size;

/** Reads the stored data about a phone. `phoneHashes`: its hashes under every key still in use. */
export const readBuyerData = async (
  admin: Administration,
  phoneHashes: readonly string[],
): Promise<BuyerData> => ({
  isRegistered: (await adminBuyerStore(admin.table).find(phoneHashes)) !== undefined,
  links: await linksOf(admin, phoneHashes),
  codes: await codesOf(admin, phoneHashes),
});

/** The number of sellers and users that an erasure concerns. */
export const countsOf = ({ isRegistered, links, codes }: BuyerData): ErasedCounts => ({
  sellers: sellersOf(links),
  users: links.length,
  codes: codes.length,
  registrations: Number(isRegistered),
});

const deleteItem = async ({ table }: Administration, Key: ItemKey): Promise<void> => {
  await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
};

/**
 * Erases a buyer for all sellers: the registration, every linked user and the one-time code items. The registration goes first, so no
 * seller can start a new link. Links that were in progress are found by reading again until none is left. After an
 * interruption, run it again: it removes the rest. The audit records hold counts and no phone.
 */
export const eraseBuyer = async (
  admin: Administration,
  phoneHashes: readonly string[],
): Promise<ErasedCounts> => {
  const before = await readBuyerData(admin, phoneHashes);
  const started = admin.record({ action: 'buyer.erase_started', details: { ...countsOf(before) } });
  await step(admin, 'erase: remove the registration', () =>
    adminBuyerStore(admin.table).remove(phoneHashes, started),
  );

  const removed: PhoneLink[] = [];
  for (let links = before.links; links.length > 0; links = await linksOf(admin, phoneHashes)) {
    for (const link of links) {
      await step(admin, 'erase: remove a user', async () => {
        const result = await removeUser(admin, link.sellerId, link.userId);
        // Deletes a phone link that is left without its user, so that the loop ends.
        if (result !== 'removed') await deleteItem(admin, link.key);
      });
      removed.push(link);
    }
  }

  const codes = await codesOf(admin, phoneHashes);
  for (const key of codes) await step(admin, 'erase: delete a code item', () => deleteItem(admin, key));
  const counts = countsOf({ isRegistered: before.isRegistered, links: removed, codes });
  await step(admin, 'erase: write the audit record', () =>
    admin.audit.write(admin.record({ action: 'buyer.erased', details: { ...counts } })),
  );
  return counts;
};
