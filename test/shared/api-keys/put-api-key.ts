import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { newSecret } from '#shared/api-keys/secret.ts';
import type { Table } from '#shared/table/client.ts';
import { apiKeyKey } from '#shared/table/keys.ts';

/** When the first secret of the key ended, epoch seconds. */
const ENDED = Date.parse('2026-11-20T10:00:00Z') / 1000;

/** Writes an active key whose second secret is valid and whose first one has ended, without the items of the secrets. */
export const putApiKey = async ({ client, name }: Table, sellerId: string, keyId: string): Promise<void> => {
  const made = { created_at: '2026-11-19T10:00:00.000Z', created_by: 'admin' } as const;
  const key: ApiKey = {
    seller_id: sellerId,
    key_id: keyId,
    name: 'server',
    scopes: ['key:rotate'],
    plan: 'professional',
    usage_id: 'u'.repeat(40),
    status: 'active',
    created_at: made.created_at,
    secrets: [
      { ...newSecret('blk_test_', made).summary, number: 2 },
      { ...newSecret('blk_test_', made).summary, number: 1, ends_at: ENDED },
    ],
    version: 1,
  };
  await client.send(new PutCommand({ TableName: name, Item: { ...apiKeyKey(sellerId, keyId), ...key } }));
};
