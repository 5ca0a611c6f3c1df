import * as v from 'valibot';
import type { NewAuditRecord } from '#shared/audit.ts';
import type { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual } from '#shared/table/conditions.ts';
import { buyerKey } from '#shared/table/keys.ts';
import { batchGet } from '#shared/table/reads.ts';
import { batchGetAll, putAll } from './batches.ts';
import { ifAbsent, transact } from './transactions.ts';

const buyerSchema = v.object({ buyer_id: v.string(), registered_at: v.string() });

/** A registered buyer as it is stored: without the phone. */
export type Buyer = v.InferOutput<typeof buyerSchema>;

export interface NewBuyer {
  readonly phone: KeyedHash;
  readonly buyerId: string;
}

/** The registered buyers, for admins. */
export const adminBuyerStore = (table: Table) => {
  const { name: TableName } = table;

  const find = async (phone: KeyedHash): Promise<Buyer | undefined> => {
    const [item] = await batchGet(table, phone.keys(buyerKey));
    return item && v.parse(buyerSchema, item);
  };

  return {
    find,

    /** Registers a buyer, with the audit record in the same transaction. A registered buyer is not changed and gets no record. */
    async register({ phone, buyerId }: NewBuyer, record: NewAuditRecord) {
      const buyer: Buyer = { buyer_id: buyerId, registered_at: record.at };
      const items = [
        { Put: { TableName, Item: { ...buyerKey(phone.current), ...buyer }, ...ifAbsent } },
        ...phone.olderKeys(buyerKey).map((Key) => ({ ConditionCheck: { TableName, Key, ...ifAbsent } })),
      ];
      const isNew = await transact(table, items, record);
      return { buyer: (isNew ? undefined : await find(phone)) ?? buyer, isNew };
    },

    /** Removes the registration of a phone, with the audit record in the same transaction. Links of sellers stay. */
    async remove(phone: KeyedHash, record: NewAuditRecord): Promise<void> {
      const deletions = phone.keys(buyerKey).map((Key) => ({ Delete: { TableName, Key } }));
      await transact(table, deletions, record);
    },

    /** Removes a registration of this time. Returns whether there was one. */
    async unregister(phone: KeyedHash, registeredAt: string): Promise<boolean> {
      const condition = ifEqual('registered_at', registeredAt);
      return transact(table, [{ Delete: { TableName, Key: buyerKey(phone.current), ...condition } }]);
    },

    /** Returns those of the buyers (any number, each once) who are not registered. */
    async missingOf<Some extends NewBuyer>(buyers: readonly Some[]): Promise<Some[]> {
      const keys = buyers.flatMap(({ phone }) => phone.keys(buyerKey));
      const found = new Set((await batchGetAll(table, keys, 'pk')).map(({ pk }) => pk));
      return buyers.filter(({ phone }) => !phone.keys(buyerKey).some(({ pk }) => found.has(pk)));
    },

    /**
     * Registers any number of buyers who were just found missing, since a batch write takes no condition. The buyer app may register the same
     * phone meanwhile. Then this write overwrites the item with the same buyer id, which depends on the phone only, and a time of registration
     * that differs by a moment.
     */
    registerMany: (buyers: readonly NewBuyer[], registered_at: string): Promise<void> =>
      putAll(
        table,
        buyers.map(({ phone, buyerId: buyer_id }) => ({
          ...buyerKey(phone.current),
          buyer_id,
          registered_at,
        })),
      ),
  };
};
