import { GetCommand } from '@aws-sdk/lib-dynamodb';
import type { Table } from '#shared/table/client.ts';
import { meterKey } from '#shared/table/keys.ts';
import { windowOf } from './rules.ts';

/** How many requests of a meter were counted in the window that `nowMs` lies in. It counts nothing itself. */
export const readMeter = async (
  { client, name: TableName }: Table,
  meter: string,
  windowSeconds: number,
  nowMs: number,
): Promise<number> => {
  const { Item } = await client.send(
    new GetCommand({ TableName, Key: meterKey(meter, windowOf(nowMs, windowSeconds)), ConsistentRead: true }),
  );
  return Number(Item?.count ?? 0);
};
