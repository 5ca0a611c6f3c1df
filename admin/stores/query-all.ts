import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** Which items of a partition. */
export interface Range {
  readonly pk: string;
  /** How their sort keys begin; all of the partition if it is left out. */
  readonly sortKeyPrefix?: string;
  readonly newestFirst?: boolean;
  readonly pageSize?: number;
}

/** The items of a partition, a page at a time, strongly consistent. Who stops early reads no further page. */
export async function* queryAll({ client, name }: Table, range: Range): AsyncGenerator<StoredItem[]> {
  const { pk, sortKeyPrefix, newestFirst = false, pageSize } = range;
  let start: Record<string, unknown> | undefined;
  do {
    const page = await client.send(
      new QueryCommand({
        TableName: name,
        KeyConditionExpression:
          sortKeyPrefix === undefined ? 'pk = :pk' : 'pk = :pk AND begins_with(sk, :prefix)',
        ExpressionAttributeValues: {
          ':pk': pk,
          ...(sortKeyPrefix === undefined ? {} : { ':prefix': sortKeyPrefix }),
        },
        ScanIndexForward: !newestFirst,
        ConsistentRead: true,
        Limit: pageSize,
        ExclusiveStartKey: start,
      }),
    );
    yield page.Items ?? [];
    start = page.LastEvaluatedKey;
  } while (start !== undefined);
}
