import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { revokeKey } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { createSeller } from '#admin/operations/sellers.ts';
import { localAdministration } from '#local/administration.ts';
import { localAuthorizerCache } from '#local/authorizer-cache.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { keySecretKey } from '#shared/table/keys.ts';
import { reconciled } from '#test/admin/operations/reconciled.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

const issued = async () => {
  const admin = localAdministration(table, 'local:tester');
  const { seller_id: sellerId } = await createSeller(admin, 'Kaveh Books');
  const request = { sellerId, name: 'server', plan: 'free', scopes: ['users:read'] } as const;
  return { admin, ...(await issueKey(admin, request)) };
};

describe('the administration of the local service', () => {
  it('flushes the authorizer cache that the gateway reads, also one that another process opened', async () => {
    const { admin, key } = await issued();
    const { flushes } = localAuthorizerCache(table);
    const before = await flushes();
    await revokeKey(admin, key.key_id);
    expect(await flushes()).toBe(before + 1);
    await admin.authorizerCache.flush();
    expect(await flushes()).toBe(before + 2);
  });

  it('finds no difference of a key that no API Gateway has, and repairs the item of its secret', async () => {
    const { admin, secret } = await issued();
    expect((await reconciled(admin)).differences).toEqual([]);
    const hash = hashApiKey(secret);
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keySecretKey(hash) }));
    const { differences } = await reconciled(admin);
    expect(differences).toMatchObject([{ kind: 'secret_differs' }]);
    expect(await keySecretStore(table).findSecret(hash)).toMatchObject({ status: 'active' });
  });
});
