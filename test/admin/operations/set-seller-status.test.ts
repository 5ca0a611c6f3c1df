import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { setExpiry } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { keyIdKey } from '#shared/table/keys.ts';
import { useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();

describe('setSellerStatus', () => {
  it('writes no secret of a key whose issue is not completed, so that nothing is left of it once it is withdrawn', async () => {
    const deployment = await newAdministration();
    const { admin } = deployment;
    const { seller_id: sellerId } = await deployment.seller();
    const request = { sellerId, name: 'server', plan: 'free', scopes: ['users:read'] } as const;
    await deployment.interruptedBefore('write KEY SECRET AUDIT', () => issueKey(admin, request));
    await setSellerStatus(admin, sellerId, 'suspended');
    await setSellerStatus(admin, sellerId, 'active');
    const keys = await admin.keys.listOf(sellerId);
    expect(keys).toMatchObject([{ status: 'pending', secrets: [expect.anything()] }]);
    expect((await admin.keys.findSecrets(keys)).size).toBe(0);
  });

  it('ends a cached decision on each key at each of two suspensions, disables each in API Gateway, and records each', async () => {
    const { admin, issued, authorize, gatewayKeys } = await newAdministration();
    const { secret, seller } = await issued();
    const request = {
      sellerId: seller.seller_id,
      name: 'second',
      plan: 'free',
      scopes: ['users:read'],
    } as const;
    const secrets = [secret, (await issueKey(admin, request)).secret];
    const state = async () => {
      const decisions = await Promise.all(secrets.map(authorize));
      const enabled = (await gatewayKeys()).map((key) => key.enabled);
      return [...decisions.map((decision) => decision !== undefined), ...enabled];
    };
    expect(await state()).toEqual([true, true, true, true]);
    for (const _suspension of ['first', 'second']) {
      await setSellerStatus(admin, seller.seller_id, 'suspended');
      expect(await state()).toEqual([false, false, false, false]);
      await setSellerStatus(admin, seller.seller_id, 'active');
      expect(await state()).toEqual([true, true, true, true]);
    }
    const actions = (await admin.audit.list(seller.seller_id, { limit: 10 })).map(({ action }) => action);
    const before = ['seller.created', 'key.issued', 'key.issued'];
    const twice = ['seller.resumed', 'seller.resumed', 'seller.suspended', 'seller.suspended'];
    // Two records of one millisecond are in no order.
    expect(actions.sort()).toEqual([...before, ...twice].sort());
  });

  it('suspends the keys of a damaged table that lacks the items which find them by id', async () => {
    const { admin, issued, table, works } = await newAdministration();
    const { key, secret, seller } = await issued();
    await table.client.send(new DeleteCommand({ TableName: table.name, Key: keyIdKey(key.key_id) }));
    await setSellerStatus(admin, seller.seller_id, 'suspended');
    expect(await works(secret)).toBe(false);
  });

  it('is made although others change a key between its reads and its writes, again and again', async () => {
    const deployment = await newAdministration();
    const { key, secret, seller } = await deployment.issued();
    let left = 4;
    const keys: typeof deployment.admin.keys = {
      ...deployment.admin.keys,
      async writeSecrets(...args) {
        left -= 1;
        if (left >= 0) await setExpiry(deployment.admin, key.key_id, 4_000_000_000 + left);
        return deployment.admin.keys.writeSecrets(...args);
      },
    };
    await setSellerStatus({ ...deployment.admin, keys }, seller.seller_id, 'suspended');
    expect(left).toBe(-1);
    expect(await deployment.works(secret)).toBe(false);
  });
});
