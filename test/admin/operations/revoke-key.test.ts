import { revokeKey } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { apiKeyStore } from '#admin/stores/api-key-store.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { ownKeyRotator } from '#shared/api-keys/own-key.ts';
import { newSecret } from '#shared/api-keys/secret.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
const ACTIVATE = 'write KEY SECRET AUDIT';
let deployment: TestAdministration;
let issued: Awaited<ReturnType<TestAdministration['issued']>>;
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
});

const records = async (action: string) =>
  (await deployment.admin.audit.list(issued.seller.seller_id, { limit: 100 })).filter(
    (record) => record.action === action,
  );

describe('revokeKey', () => {
  it('deletes the disabled key of a suspended seller from API Gateway too', async () => {
    await setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended');
    await revokeKey(deployment.admin, issued.key.key_id);
    expect(await deployment.gatewayKeys()).toEqual([]);
    await setSellerStatus(deployment.admin, issued.seller.seller_id, 'active');
    expect(await deployment.works(issued.secret)).toBe(false);
  });

  it('deletes no other key whose name begins alike when its own has left API Gateway already', async () => {
    const name = `${deployment.admin.gatewayKeyName(issued.key.key_id)}0`;
    const { id } = await deployment.gateway.createKey({ name, value: 'v'.repeat(40), enabled: true });
    await deployment.gateway.deleteKey(await deployment.gatewayIdOf(issued.key.key_id));
    await revokeKey(deployment.admin, issued.key.key_id);
    expect((await deployment.gatewayKeys()).map((key) => key.id)).toEqual([id]);
  });

  it('makes the secret invalid while API Gateway answers with errors, and completes when it runs again', async () => {
    const flush = () => Promise.reject(new Error('API Gateway is down'));
    const outage = { ...deployment.admin, authorizerCache: { flush } };
    await expect(revokeKey(outage, issued.key.key_id)).rejects.toThrow('API Gateway is down');
    expect(await deployment.works(issued.secret)).toBe(false);
    expect(await revokeKey(deployment.admin, issued.key.key_id)).toMatchObject({ status: 'revoked' });
    expect(await deployment.gatewayKeys()).toEqual([]);
    expect(await records('key.revoked')).toHaveLength(1);
  });

  it('revokes a key that is rotated before each of its writes, with every secret', async () => {
    const { admin, table, clock } = deployment;
    const { seller_id: sellerId, key_id: keyId, plan, scopes } = issued.key;
    const secrets = [issued.secret];
    const rotateMeanwhile = async () => {
      const current = await admin.keys.find(keyId);
      const caller = { sellerId, keyId, plan, scopes, limits: {}, expiresAt: undefined };
      const made = { created_at: admin.now(), created_by: 'seller' } as const;
      const secret = newSecret('blk_test_', made);
      const rotation = { secret, graceSeconds: 3600, nowMs: clock() };
      const secretNumber = Number(current?.secrets[0]?.number);
      const { written } = await ownKeyRotator(table)({ ...caller, secretNumber }, rotation);
      if (written) secrets.push(secret.text);
      return written;
    };
    const storm: boolean[] = [];
    const beside = interceptedTable(table, async ({ name }, send) => {
      if (name === 'TransactWriteCommand') storm.push(await rotateMeanwhile());
      return send();
    });
    await revokeKey({ ...admin, keys: apiKeyStore(beside) }, keyId);
    expect([storm[0], storm.at(-1)]).toEqual([true, false]);
    expect(await Promise.all(secrets.map(deployment.works))).toEqual([false, false]);
    expect(await admin.keys.find(keyId)).toMatchObject({ status: 'revoked' });
    expect(await records('key.revoked')).toHaveLength(1);
  });

  const secondKey = () =>
    ({ sellerId: issued.seller.seller_id, name: 'second', plan: 'free', scopes: ['users:read'] }) as const;

  /** The key of the seller that is being issued. */
  const pendingKey = async () => {
    const keys = await deployment.admin.keys.listOf(issued.seller.seller_id);
    return keys.find(({ status }) => status === 'pending') as ApiKey;
  };

  it('withdraws a key whose issue was interrupted, from API Gateway and from the table', async () => {
    const issue = () => issueKey(deployment.admin, secondKey());
    await deployment.interruptedBefore(ACTIVATE, issue);
    const { key_id } = await pendingKey();
    expect(await revokeKey(deployment.admin, key_id)).toMatchObject({ status: 'revoked' });
    expect(await deployment.admin.keys.find(key_id)).toBeUndefined();
    expect((await deployment.gatewayKeys()).map(({ id }) => id)).toEqual([
      await deployment.gatewayIdOf(issued.key.key_id),
    ]);
    expect([(await records('key.withdrawn')).length, (await records('key.revoked')).length]).toEqual([1, 0]);
  });

  it('ends the issue of a key that it withdraws', async () => {
    const { admin, beforeEachWrite } = deployment;
    const meanwhile = async (write: string) =>
      write === ACTIVATE && revokeKey(admin, (await pendingKey()).key_id);
    const issue = beforeEachWrite(meanwhile, () => issueKey(admin, secondKey()));
    await expect(issue).rejects.toMatchObject({ code: 'changed_meanwhile' });
    expect(await admin.keys.listOf(issued.seller.seller_id)).toHaveLength(1);
  });

  it('revokes a pending key whose issue ends before it is withdrawn', async () => {
    const { admin, beforeEachWrite } = deployment;
    await deployment.interruptedBefore(ACTIVATE, () => issueKey(admin, secondKey()));
    const before = await pendingKey();
    const { seller_id, key_id } = before;
    const record = admin.record({ action: 'key.issued', seller_id, key_id });
    const active = {
      before,
      after: { ...before, status: 'active' },
      sellerStatus: 'active',
      record,
    } as const;
    const meanwhile = (write: string) => write === 'write KEY KEYID AUDIT' && admin.keys.save(active);
    const revoked = await beforeEachWrite(meanwhile, () => revokeKey(admin, key_id));
    expect(revoked).toMatchObject({ status: 'revoked' });
    expect(await admin.keys.find(key_id)).toMatchObject({ status: 'revoked' });
    const [secret] = (await admin.keys.findSecrets([revoked])).values();
    expect(secret).toMatchObject({ status: 'revoked' });
  });
});
