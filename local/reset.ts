import { paginateScan } from '@aws-sdk/lib-dynamodb';
import { deleteAll } from '#admin/stores/batches.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';

/** What tests leave behind: the checks of persons, the codes and locks of phones, the counts of limits. Users, buyers and keys stay. */
const FORGOTTEN = ['CHECK#', 'CODE#', 'LIMIT#'] as const satisfies readonly ItemPrefix[];

/** Deletes every check, code and count of the table. Returns how many items they were. */
export const forgetUse = async (table: Table): Promise<number> => {
  let deleted = 0;
  const scan = { TableName: table.name, ProjectionExpression: 'pk, sk', ConsistentRead: true };
  for await (const { Items = [] } of paginateScan({ client: table.client }, scan)) {
    const forgotten = Items.filter(({ pk }) => FORGOTTEN.some((prefix) => String(pk).startsWith(prefix)));
    await deleteAll(table, forgotten);
    deleted += forgotten.length;
  }
  return deleted;
};
