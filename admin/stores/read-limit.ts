import { GetCommand } from '@aws-sdk/lib-dynamodb';
import { windowOf } from '#shared/rate-limits/windows.ts';
import type { Table } from '#shared/table/client.ts';
import { limitKey } from '#shared/table/keys.ts';

/** How many requests of a limit were counted in the window that `nowMs` lies in. It counts nothing itself. */
export const readMeter = async (
  { client, name: TableName }: Table,
  subject: string,
  windowSeconds: number,
  nowMs: number,
): Promise<number> => {
  const { Item } = await client.send(
    new GetCommand({
      TableName,
      Key: limitKey(subject, windowOf(nowMs, windowSeconds)),
      ConsistentRead: true,
    }),
  );
  return Number(Item?.count ?? 0);
};
