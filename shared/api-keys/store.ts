import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { secretKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { conditionalWrite, retriedWrite } from '#shared/table/writes.ts';
import { type KeySecret, keySecretSchema } from './api-key-item.ts';

/** The first request of a key on each day waits for this write, at most this long. */
const RECORD_USE_TIMEOUT_MS = 300;

/** The write of a day of use. A secret that was deleted meanwhile must not reappear as an item that holds only a day. */
const useUpdate = (TableName: string, secretHash: string, day: string, unless = '') =>
  new UpdateCommand({
    TableName,
    Key: secretKey(secretHash),
    UpdateExpression: 'SET last_used_day = :day',
    ConditionExpression: `attribute_exists(pk)${unless}`,
    ExpressionAttributeValues: { ':day': day },
  });

export const keySecretStore = ({ client, name }: Table) => ({
  /** Strongly consistent, so that a key works as soon as it is issued. */
  async findSecret(secretHash: string): Promise<KeySecret | undefined> {
    const item = await getItem({ client, name }, secretKey(secretHash));
    return item && v.parse(keySecretSchema, item);
  },

  /** From the first use on, no rotation replaces a secret. False: it was deleted, since a rotation that came first has replaced it. */
  recordFirstUse: async (secretHash: string, day: string): Promise<boolean> =>
    (await retriedWrite(() => client.send(useUpdate(name, secretHash, day)))).written,

  /** Records the day (UTC) of a later use, unless it is recorded. Throws if that takes longer than 300 ms. */
  async recordUse(secretHash: string, day: string): Promise<void> {
    const abortSignal = AbortSignal.timeout(RECORD_USE_TIMEOUT_MS);
    const unlessRecorded = ' AND (attribute_not_exists(last_used_day) OR last_used_day < :day)';
    await conditionalWrite(client.send(useUpdate(name, secretHash, day, unlessRecorded), { abortSignal }));
  },
});
