import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { secretKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { conditionalWrite } from '#shared/table/writes.ts';
import { type KeySecret, keySecretSchema } from './schema.ts';

/** The first request of a key on each day waits for this write, at most this long. */
const RECORD_USE_TIMEOUT_MS = 300;

/** Returns the store of key secrets. */
export const keySecretStore = (table: Table) => ({
  /** Reads a secret by the hash of the key, strongly consistent, so that a key works as soon as it is issued. */
  async findSecret(secretHash: string): Promise<KeySecret | undefined> {
    const item = await getItem(table, secretKey(secretHash));
    return item && v.parse(keySecretSchema, item);
  },

  /** Records the day (UTC) of a secret's latest use, unless it is recorded. Throws if that takes longer than 300 ms. */
  async recordUse(secretHash: string, day: string): Promise<void> {
    await conditionalWrite(
      table.client.send(
        new UpdateCommand({
          TableName: table.name,
          Key: secretKey(secretHash),
          UpdateExpression: 'SET last_used_day = :day',
          // A secret that was deleted meanwhile must not reappear as an item that holds only a day.
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(last_used_day) OR last_used_day < :day)',
          ExpressionAttributeValues: { ':day': day },
        }),
        { abortSignal: AbortSignal.timeout(RECORD_USE_TIMEOUT_MS) },
      ),
    );
  },
});

export type KeySecretStore = ReturnType<typeof keySecretStore>;
