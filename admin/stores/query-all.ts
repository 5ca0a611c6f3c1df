import { QueryCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import type { StoredItem } from '#shared/table/writes.ts';

/** A range of items of one partition. */
export interface Range {
  readonly pk: string;
  /** The prefix of their sort keys; without it, the whole partition. */
  readonly sortKeyPrefix?: string;
  readonly newestFirst?: boolean;
  readonly pageSize?: number;
}

/** Reads a range page by page, strongly consistent. A caller that stops early causes no further read. */
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
