import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { keySecretKey } from '#shared/table/keys.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const secret: KeySecret = {
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: ['users:read', 'users:write'],
  plan: 'free',
  usage_id: 'usage-1',
  status: 'active',
  seller_status: 'active',
  number: 1,
};

const put = (hash: string, item: object = secret) =>
  table.client.send(new PutCommand({ TableName: table.name, Item: { ...keySecretKey(hash), ...item } }));

describe('findSecret', () => {
  it('returns the secret with this hash, without its key attributes, and undefined for another hash', async () => {
    await put('found');
    const { findSecret } = keySecretStore(table);
    expect(await findSecret('found')).toEqual(secret);
    expect(await findSecret('other')).toBeUndefined();
  });

  it('reads strongly consistent, so that a new key works and a revoked one does not', async () => {
    const reads: unknown[] = [];
    const watched = interceptedTable(table, ({ input }, send) => {
      reads.push((input as { ConsistentRead?: boolean }).ConsistentRead);
      return send();
    });
    await keySecretStore(watched).findSecret('any');
    expect(reads).toEqual([true]);
  });

  it('throws for an item that is not a secret', async () => {
    await put('damaged', { ...secret, plan: 'gold' });
    await expect(keySecretStore(table).findSecret('damaged')).rejects.toThrow('gold');
  });
});
