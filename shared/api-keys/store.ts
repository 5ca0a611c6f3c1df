import { GetCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { whenCondition } from '#shared/table/conditions.ts';
import { secretKey } from '#shared/table/keys.ts';
import { type KeySecret, keySecretSchema } from './schema.ts';

/** The caller waits for it, once a day and key: no longer than this. */
const NOTE_PATIENCE_MS = 300;

export const keySecretStore = ({ client, name: TableName }: Table) => ({
  /** The record of a secret, by the hash of the key. Strongly consistent: a key works the moment it was issued. */
  async findSecret(secretHash: string): Promise<KeySecret | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: secretKey(secretHash), ConsistentRead: true }),
    );
    return Item && v.parse(keySecretSchema, Item);
  },

  /** Notes the day (UTC) of a secret's newest use, unless it was noted already. Rejects if that takes longer than a glance. */
  async noteUse(secretHash: string, day: string): Promise<void> {
    await whenCondition(
      client.send(
        new UpdateCommand({
          TableName,
          Key: secretKey(secretHash),
          UpdateExpression: 'SET last_used_day = :day',
          // A secret that was taken away meanwhile must not come back as an item with nothing but a day.
          ConditionExpression:
            'attribute_exists(pk) AND (attribute_not_exists(last_used_day) OR last_used_day < :day)',
          ExpressionAttributeValues: { ':day': day },
        }),
        { abortSignal: AbortSignal.timeout(NOTE_PATIENCE_MS) },
      ),
    );
  },
});

export type KeySecretStore = ReturnType<typeof keySecretStore>;
