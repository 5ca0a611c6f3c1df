import { GetCommand } from '@aws-sdk/lib-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { secretKey } from '#shared/table/keys.ts';
import { type KeySecret, keySecretSchema } from './schema.ts';

export const keySecretStore = ({ client, name: TableName }: Table) => ({
  /** The record of a secret, by the hash of the key. Strongly consistent: a key works the moment it was issued. */
  async findSecret(secretHash: string): Promise<KeySecret | undefined> {
    const { Item } = await client.send(
      new GetCommand({ TableName, Key: secretKey(secretHash), ConsistentRead: true }),
    );
    return Item && v.parse(keySecretSchema, Item);
  },
});

export type KeySecretStore = ReturnType<typeof keySecretStore>;
