import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { keySecretKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { type KeySecret, keySecretSchema } from './api-key-item.ts';
import { loggedKnownValues, withKnownValues } from './known-values.ts';

export const keySecretStore = (table: Table) => ({
  /** Strongly consistent, so that a key works as soon as it is issued. */
  async findSecret(secretHash: string): Promise<KeySecret | undefined> {
    const item = await getItem(table, keySecretKey(secretHash));
    return item && v.parse(keySecretSchema, withKnownValues(item, loggedKnownValues));
  },
});
