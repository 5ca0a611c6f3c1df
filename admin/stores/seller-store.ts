import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { type ItemKey, SELLERS_PARTITION, sellerKey, sellerListKey } from '#shared/table/keys.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { auditPut, type NewAuditRecord } from './audit-store.ts';
import { batchGetAll } from './batch-get.ts';
import { queryAll } from './query-all.ts';
import { transact } from './transactions.ts';

/** Every status of a seller. Only an active seller's keys are valid. */
const SELLER_STATUSES = ['active', 'suspended'] as const;

export type SellerStatus = (typeof SELLER_STATUSES)[number];

/** A seller as it is stored. It has `user_count - removed_count` users. */
const sellerSchema = v.object({
  seller_id: v.string(),
  name: v.string(),
  status: v.picklist(SELLER_STATUSES),
  /** The highest ordinal of its users. */
  user_count: v.number(),
  removed_count: v.optional(v.number(), 0),
  created_at: v.string(),
  /** The time of a change after which the authorizer cache was not flushed yet. */
  unflushed_since: v.optional(v.string()),
});

export type Seller = v.InferOutput<typeof sellerSchema>;

const PAGE_SIZE = 100;

const sellerIdOf = (listSortKey: string): string => listSortKey.slice(listSortKey.lastIndexOf('#') + 1);

/** The condition of a transaction that a seller has this status. */
export const sellerCheck = (
  table: Pick<Table, 'name'>,
  sellerId: string,
  status: SellerStatus,
): TransactItem => ({
  ConditionCheck: {
    TableName: table.name,
    Key: sellerKey(sellerId),
    ConditionExpression: '#status = :status',
    ExpressionAttributeNames: { '#status': 'status' },
    ExpressionAttributeValues: { ':status': status },
  },
});

/** Removes the mark of the change at `since` from a seller or a key. The condition fails if a later change set its own mark. */
export const flushMarkRemoval = (table: Pick<Table, 'name'>, key: ItemKey, since: string): TransactItem => ({
  Update: {
    TableName: table.name,
    Key: key,
    UpdateExpression: 'REMOVE unflushed_since',
    ConditionExpression: 'unflushed_since = :since',
    ExpressionAttributeValues: { ':since': since },
  },
});

/** Returns the store of sellers. */
export const sellerStore = (table: Table) => {
  const { client, name: TableName } = table;

  /** Reads sellers in the order of the ids. */
  const getAll = async (ids: readonly string[]): Promise<Seller[]> => {
    const items = await batchGetAll(table, ids.map(sellerKey));
    const found = new Map(items.map((item) => [item.seller_id, v.parse(sellerSchema, item)]));
    return ids.flatMap((id) => found.get(id) ?? []);
  };

  /** Sets a field of an existing seller that has another value. `mark`: whether to mark the seller as not flushed. */
  const change = async (
    sellerId: string,
    {
      field,
      value,
      mark,
    }: { readonly field: 'status' | 'name'; readonly value: string; readonly mark: boolean },
    record: NewAuditRecord,
  ): Promise<boolean> => {
    const { written } = await transact(table, [
      {
        Update: {
          TableName,
          Key: sellerKey(sellerId),
          UpdateExpression: `SET #field = :value${mark ? ', unflushed_since = :now' : ''}`,
          ConditionExpression: 'attribute_exists(pk) AND #field <> :value',
          ExpressionAttributeNames: { '#field': field },
          ExpressionAttributeValues: { ':value': value, ...(mark ? { ':now': record.at } : {}) },
        },
      },
      auditPut(table, record),
    ]);
    return written;
  };

  return {
    /** Writes a new seller, its item in the list of all sellers, and the audit record. */
    async create(seller: Seller, record: NewAuditRecord): Promise<void> {
      const result = await transact(table, [
        {
          Put: {
            TableName,
            Item: { ...sellerKey(seller.seller_id), ...seller },
            ConditionExpression: 'attribute_not_exists(pk)',
          },
        },
        { Put: { TableName, Item: sellerListKey(seller.created_at, seller.seller_id) } },
        auditPut(table, record),
      ]);
      if (!result.written) throw new Error('a new seller id exists already');
    },

    async find(sellerId: string): Promise<Seller | undefined> {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: sellerKey(sellerId), ConsistentRead: true }),
      );
      return Item && v.parse(sellerSchema, Item);
    },

    /** Reads all sellers, oldest first, in batches of 100. It queries a list of ids and does not scan the table. */
    async *list(): AsyncGenerator<Seller> {
      for await (const items of queryAll(table, { pk: SELLERS_PARTITION, pageSize: PAGE_SIZE })) {
        yield* await getAll(items.map((item) => sellerIdOf(String(item.sk))));
      }
    },

    /** Sets the status of a seller and marks it as not flushed since the record's time. False: it has this status already. */
    setStatus: (sellerId: string, status: SellerStatus, record: NewAuditRecord): Promise<boolean> =>
      change(sellerId, { field: 'status', value: status, mark: true }, record),

    /** Sets the name of a seller. False: it has this name already. */
    rename: (sellerId: string, name: string, record: NewAuditRecord): Promise<boolean> =>
      change(sellerId, { field: 'name', value: name, mark: false }, record),

    /** Removes the mark of the change at `since`, and writes `record` with it. The mark of a later change stays. */
    async markFlushed(sellerId: string, since: string, record?: NewAuditRecord): Promise<void> {
      const removal = flushMarkRemoval(table, sellerKey(sellerId), since);
      await transact(table, record === undefined ? [removal] : [removal, auditPut(table, record)]);
    },
  };
};
