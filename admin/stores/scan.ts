import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** Parts of the table that are read at the same time. */
const SEGMENTS = 8;

/**
 * Reads the whole table and awaits `work` for each page. It is for a table that was restored, or was replaced by one, without traffic.
 * `attribute`: only the items that have it.
 */
export const forEachPage = async (
  { client, name: TableName }: Table,
  work: (items: readonly StoredItem[]) => Promise<void>,
  attribute?: string,
): Promise<void> => {
  const filter =
    attribute === undefined
      ? {}
      : {
          FilterExpression: 'attribute_exists(#attribute)',
          ExpressionAttributeNames: { '#attribute': attribute },
        };
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
          ...filter,
        }),
      );
      await work(page.Items ?? []);
      start = page.LastEvaluatedKey;
    } while (start !== undefined);
  };
  await Promise.all(Array.from({ length: SEGMENTS }, (_, segment) => readSegment(segment)));
};
