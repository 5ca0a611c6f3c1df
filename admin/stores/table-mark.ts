import { DescribeTableCommand } from '@aws-sdk/client-dynamodb';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { refusal } from '#admin/refusal.ts';
import type { Table } from '#shared/table/client.ts';
import { TABLE_MARK } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { TransactItem } from '#shared/table/writes.ts';

/** The id that DynamoDB gave the table when it was created. A restored table has a new one, under any name. */
const tableId = async ({ client, name: TableName }: Table): Promise<string> =>
  String((await client.send(new DescribeTableCommand({ TableName }))).Table?.TableId);

/** Returns the write that marks a table as the one that its items were written in. A mark that is there stays. */
export const markIfNew = async (table: Table): Promise<TransactItem> => ({
  Update: {
    TableName: table.name,
    Key: TABLE_MARK,
    UpdateExpression: 'SET table_id = if_not_exists(table_id, :id)',
    ExpressionAttributeValues: { ':id': await tableId(table) },
  },
});

/** Marks a restored table as replayed. */
export const markReplayed = async (table: Table): Promise<void> => {
  const Item = { ...TABLE_MARK, table_id: await tableId(table) };
  await table.client.send(new PutCommand({ TableName: table.name, Item }));
};

/** Returns whether the table was restored and not replayed: its mark came with its items from another table. */
const isUnreplayed = async (table: Table): Promise<boolean> => {
  const mark = await getItem(table, TABLE_MARK);
  return mark !== undefined && mark.table_id !== (await tableId(table));
};

/** Throws `not_replayed` if the table was restored and not replayed. */
export const requireReplayed = async (table: Table): Promise<void> => {
  if (!(await isUnreplayed(table))) return;
  throw refusal(
    'not_replayed',
    `The table ${table.name} was restored and not replayed, so revoked keys would be valid again. Run restore replay first.`,
  );
};

/** Throws `already_replayed` unless the table was restored and not replayed. */
export const requireUnreplayed = async (table: Table): Promise<void> => {
  if (await isUnreplayed(table)) return;
  throw refusal(
    'already_replayed',
    `The table ${table.name} was not restored, or was replayed already. Nothing was changed.`,
  );
};
