import * as v from 'valibot';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { Table } from '#shared/table/client.ts';
import { buyerKey } from '#shared/table/keys.ts';
import { batchGet } from '#shared/table/reads.ts';
import { batchGetAll, putAll } from './batches.ts';
import { ifAbsent, transact } from './transactions.ts';

const buyerSchema = v.object({ buyer_id: v.string(), registered_at: v.string() });

/** A registered buyer as it is stored: without the phone. */
export type Buyer = v.InferOutput<typeof buyerSchema>;

/** A buyer to be registered. `phoneHashes`: the hash under the current key first, then those under older keys still in use. */
export interface NewBuyer {
  readonly phoneHashes: readonly [string, ...string[]];
  readonly buyerId: string;
}

/** The registered buyers, for admins. `phoneHashes`: the hashes of one phone under every key still in use. */
export const adminBuyerStore = (table: Table) => {
  const { name: TableName } = table;

  const find = async (phoneHashes: readonly string[]): Promise<Buyer | undefined> => {
    const [item] = await batchGet(table, phoneHashes.map(buyerKey));
    return item && v.parse(buyerSchema, item);
  };

  return {
    find,

    /** Registers a buyer, with the audit record in the same transaction. A registered buyer is not changed and gets no record. */
    async register({ phoneHashes, buyerId }: NewBuyer, record: NewAuditRecord) {
      const buyer: Buyer = { buyer_id: buyerId, registered_at: record.at };
      const [current, ...older] = phoneHashes.map(buyerKey);
      const items = [
        { Put: { TableName, Item: { ...current, ...buyer }, ...ifAbsent } },
        ...older.map((Key) => ({ ConditionCheck: { TableName, Key, ...ifAbsent } })),
      ];
      const isNew = await transact(table, items, record);
      return { buyer: (isNew ? undefined : await find(phoneHashes)) ?? buyer, isNew };
    },

    /** Removes the registration of a phone, with the audit record in the same transaction. Links of sellers stay. */
    async remove(phoneHashes: readonly string[], record: NewAuditRecord): Promise<void> {
      const deletions = phoneHashes.map((hash) => ({ Delete: { TableName, Key: buyerKey(hash) } }));
      await transact(table, deletions, record);
    },

    /**
     * Registers those of the buyers (any number, each once) who are not registered yet, and returns their number. Registered buyers keep
     * their time of registration: they are read first, since a batch write takes no condition.
     *
     * The buyer app may register the same phone between the read and the write. Then this write overwrites the item with the same buyer
     * id, which depends on the phone only, and a time of registration that differs by a moment.
     */
    async registerMany(buyers: readonly NewBuyer[], registeredAt: string): Promise<number> {
      const keys = buyers.flatMap(({ phoneHashes }) => phoneHashes.map(buyerKey));
      const found = new Set((await batchGetAll(table, keys, 'pk')).map(({ pk }) => pk));
      const missing = buyers.filter(
        ({ phoneHashes }) => !phoneHashes.some((hash) => found.has(buyerKey(hash).pk)),
      );
      const items = missing.map(({ phoneHashes: [current], buyerId }) => ({
        ...buyerKey(current),
        buyer_id: buyerId,
        registered_at: registeredAt,
      }));
      await putAll(table, items);
      return missing.length;
    },
  };
};
