import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { SELLERS_PARTITION, sellerKey, sellerListKey } from '#shared/table/keys.ts';
import { conditionalWrite, type TransactItem } from '#shared/table/writes.ts';
import { auditPut, type NewAuditRecord } from './audit-store.ts';
import { batchGet } from './batch-get.ts';
import { queryAll } from './query-all.ts';
import { type Seller, type SellerStatus, sellerSchema } from './seller-schema.ts';
import { transact } from './transactions.ts';

const PAGE_SIZE = 100;

const sellerIdOf = (listSortKey: string): string => listSortKey.slice(listSortKey.lastIndexOf('#') + 1);

/** The condition that a seller has this status, for a transaction that depends on it. */
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

export const sellerStore = (table: Table) => {
  const { client, name: TableName } = table;

  /** Sellers in the order of their ids. */
  const getAll = async (ids: readonly string[]): Promise<Seller[]> => {
    const items = await batchGet(table, ids.map(sellerKey));
    const found = new Map(items.map((item) => [item.seller_id, v.parse(sellerSchema, item)]));
    return ids.flatMap((id) => found.get(id) ?? []);
  };

  return {
    /** Writes a new seller and its place in the list of all, with the record of it. */
    async create(seller: Seller, record: NewAuditRecord): Promise<void> {
      const created = await transact(table, [
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
      if (!created.written) throw new Error('a new seller id is taken');
    },

    async find(sellerId: string): Promise<Seller | undefined> {
      const { Item } = await client.send(
        new GetCommand({ TableName, Key: sellerKey(sellerId), ConsistentRead: true }),
      );
      return Item && v.parse(sellerSchema, Item);
    },

    /** All sellers, oldest first, a batch at a time: no scan of the table, whatever else it holds. */
    async *list(): AsyncGenerator<Seller> {
      for await (const items of queryAll(table, { pk: SELLERS_PARTITION, pageSize: PAGE_SIZE })) {
        yield* await getAll(items.map((item) => sellerIdOf(String(item.sk))));
      }
    },

    /** Sets the status of a seller that is there, and marks it unflushed. Nothing else is touched: its keys follow in a step of their own. */
    async setStatus(sellerId: string, status: SellerStatus, record: NewAuditRecord): Promise<void> {
      const written = await transact(table, [
        {
          Update: {
            TableName,
            Key: sellerKey(sellerId),
            UpdateExpression: 'SET #status = :status, unflushed_since = :now',
            ConditionExpression: 'attribute_exists(pk)',
            ExpressionAttributeNames: { '#status': 'status' },
            ExpressionAttributeValues: { ':status': status, ':now': record.at },
          },
        },
        auditPut(table, record),
      ]);
      if (!written.written) throw new Error('the seller is gone');
    },

    /** Says that the cache was flushed after the change of `since`; a later change keeps its own mark. */
    async markFlushed(sellerId: string, since: string): Promise<void> {
      await conditionalWrite(
        client.send(
          new UpdateCommand({
            TableName,
            Key: sellerKey(sellerId),
            UpdateExpression: 'REMOVE unflushed_since',
            ConditionExpression: 'unflushed_since = :since',
            ExpressionAttributeValues: { ':since': since },
          }),
        ),
      );
    },
  };
};

export type SellerStore = ReturnType<typeof sellerStore>;
