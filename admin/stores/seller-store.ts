import * as v from 'valibot';
import type { NewAuditRecord } from '#shared/audit.ts';
import { type SellerTemplates, sellerTemplatesSchema } from '#shared/sms/templates.ts';
import type { Table } from '#shared/table/client.ts';
import { ifEqual, setting } from '#shared/table/conditions.ts';
import { type ItemKey, SELLERS_PARTITION, sellerKey, sellerListKey } from '#shared/table/keys.ts';
import { getItem, queryAll } from '#shared/table/reads.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { batchGetAll } from './batches.ts';
import { ifAbsent, transact } from './transactions.ts';

/** A seller as it is stored. It has `user_count - removed_count` users. Only an active seller's keys are valid. */
const sellerSchema = v.object({
  seller_id: v.string(),
  name: v.string(),
  status: v.picklist(['active', 'suspended']),
  /** The highest ordinal of its users. */
  user_count: v.number(),
  removed_count: v.number(),
  /** The number of the last event. */
  event_count: v.number(),
  created_at: v.string(),
  /** The templates of its own messages. */
  message_templates: v.optional(sellerTemplatesSchema),
  /** The time of a change after which the authorizer cache was not flushed yet. */
  unflushed_since: v.optional(v.string()),
});

export type Seller = v.InferOutput<typeof sellerSchema>;

export type SellerStatus = Seller['status'];

const sellerIdOf = (listSortKey: string): string => listSortKey.slice(listSortKey.lastIndexOf('#') + 1);

/** The condition of a transaction that a seller has this status. */
export const sellerCheck = ({ name }: Table, sellerId: string, status: SellerStatus): TransactItem => ({
  ConditionCheck: { TableName: name, Key: sellerKey(sellerId), ...ifEqual('status', status) },
});

/** Removes the mark of the change at `since` from a seller or a key, and writes `record` with it. The mark of a later change stays. */
export const removeFlushMark = async (
  table: Table,
  { key, since }: { readonly key: ItemKey; readonly since: string },
  record?: NewAuditRecord,
): Promise<void> => {
  const UpdateExpression = 'REMOVE unflushed_since';
  const condition = ifEqual('unflushed_since', since);
  await transact(
    table,
    [{ Update: { TableName: table.name, Key: key, UpdateExpression, ...condition } }],
    record,
  );
};

/** Returns the store of sellers. */
export const sellerStore = (table: Table) => {
  const { name: TableName } = table;

  /** Sets attributes of a seller. False: the first of them has this value already. */
  const set = (sellerId: string, attributes: Partial<Seller>, record: NewAuditRecord): Promise<boolean> => {
    const [first] = Object.keys(attributes);
    const ConditionExpression = `attribute_exists(pk) AND #${first} <> :${first}`;
    const Update = { TableName, Key: sellerKey(sellerId), ...setting(attributes), ConditionExpression };
    return transact(table, [{ Update }], record);
  };

  return {
    /** Writes a new seller, its item in the list of all sellers, and the audit record. */
    async create(seller: Seller, record: NewAuditRecord): Promise<void> {
      const { seller_id, created_at } = seller;
      const items = [
        { Put: { TableName, Item: { ...sellerKey(seller_id), ...seller }, ...ifAbsent } },
        { Put: { TableName, Item: sellerListKey(created_at, seller_id) } },
      ];
      if (!(await transact(table, items, record))) throw new Error('a new seller id exists already');
    },

    async find(sellerId: string): Promise<Seller | undefined> {
      const item = await getItem(table, sellerKey(sellerId));
      return item && v.parse(sellerSchema, item);
    },

    /** Reads all sellers, oldest first. It queries a list of ids and does not scan the table. */
    async list(): Promise<Seller[]> {
      const ids = (await queryAll(table, { pk: SELLERS_PARTITION })).map(({ sk }) => sellerIdOf(String(sk)));
      const items = await batchGetAll(table, ids.map(sellerKey));
      const found = new Map(items.map((item) => [item.seller_id, v.parse(sellerSchema, item)]));
      return ids.flatMap((id) => found.get(id) ?? []);
    },

    /** Sets the status of a seller and marks it as not flushed since the record's time. False: it has this status already. */
    setStatus: (sellerId: string, status: SellerStatus, record: NewAuditRecord): Promise<boolean> =>
      set(sellerId, { status, unflushed_since: record.at }, record),

    /** Sets the name of a seller. False: it has this name already. */
    rename: (sellerId: string, name: string, record: NewAuditRecord): Promise<boolean> =>
      set(sellerId, { name }, record),

    /** Sets the templates of a seller as it was read. False: its templates have changed since. */
    setTemplates(
      { seller_id, message_templates: seen }: Seller,
      templates: SellerTemplates,
      record: NewAuditRecord,
    ): Promise<boolean> {
      const update = setting({ message_templates: templates });
      const Update = {
        TableName,
        Key: sellerKey(seller_id),
        ...update,
        ConditionExpression: `attribute_exists(pk) AND ${seen === undefined ? 'attribute_not_exists(#message_templates)' : '#message_templates = :seen'}`,
        ExpressionAttributeValues: { ...update.ExpressionAttributeValues, ...(seen && { ':seen': seen }) },
      };
      return transact(table, [{ Update }], record);
    },

    /** Removes the mark of the change at `since`, and writes `record` with it. The mark of a later change stays. */
    markFlushed: (sellerId: string, since: string, record?: NewAuditRecord): Promise<void> =>
      removeFlushMark(table, { key: sellerKey(sellerId), since }, record),
  };
};
