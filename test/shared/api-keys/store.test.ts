import { PutCommand } from '@aws-sdk/lib-dynamodb';
import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { redirectLog } from '#shared/log.ts';
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

  it('leaves unknown scopes out, takes the smallest plan for an unknown one, and logs both: a later version wrote them', async () => {
    await put('later', { ...secret, plan: 'gold', scopes: ['users:export', 'users:read'] });
    const lines: string[] = [];
    const restore = redirectLog((line) => lines.push(line));
    const found = await keySecretStore(table).findSecret('later');
    restore();
    expect(found).toEqual({ ...secret, plan: 'free', scopes: ['users:read'] });
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { event: 'key_values_unknown', key_id: 'key_1', unknown_scopes: 'users:export', unknown_plan: 'gold' },
    ]);
  });

  it('throws for an item that is not a secret', async () => {
    await put('damaged', { ...secret, status: 'paused' });
    await expect(keySecretStore(table).findSecret('damaged')).rejects.toThrow('paused');
  });
});
