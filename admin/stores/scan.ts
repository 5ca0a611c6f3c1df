import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** Parts of the table that are read at the same time. */
const SEGMENTS = 8;

/** Reads the whole table and awaits `work` for each page of the items of a kind. Only a restore reads so much. */
export const forEachPage = async (
  { client, name: TableName }: Table,
  prefix: ItemPrefix,
  work: (items: readonly StoredItem[]) => Promise<void>,
): Promise<void> => {
  const readSegment = async (Segment: number): Promise<void> => {
    let start: StoredItem | undefined;
    do {
      const page = await client.send(
        new ScanCommand({
          TableName,
          Segment,
          TotalSegments: SEGMENTS,
          ConsistentRead: true,
          ExclusiveStartKey: start,
          FilterExpression: 'begins_with(pk, :prefix)',
          ExpressionAttributeValues: { ':prefix': prefix },
        }),
      );
      await work(page.Items ?? []);
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => readSegment(segment)));
};
