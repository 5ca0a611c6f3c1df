import { issueKey } from '#admin/operations/issue-key.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
});

describe('issueKey', () => {
  it('issues a valid key and stores its secret nowhere', async () => {
    const { key, secret, seller } = await deployment.issued({
      scopes: ['users:read', 'users:read', 'users:write'],
    });
    expect(secret).toMatch(/^blk_test_[0-9A-Za-z]{38}$/);
    expect(await deployment.works(secret)).toBe(true);
    expect(key).toMatchObject({ status: 'active', plan: 'free', scopes: ['users:read', 'users:write'] });
    expect(key.usage_id).toMatch(/^[0-9A-Za-z]{40}$/);
    expect(
      JSON.stringify([await deployment.admin.keys.find(key.key_id), ...(await deployment.gatewayKeys())]),
    ).not.toContain(secret);
    expect(await deployment.admin.audit.list(seller.seller_id, { limit: 10 })).toMatchObject([
      { action: 'key.issued', key_id: key.key_id, actor: 'local:tester', details: { plan: 'free' } },
      { action: 'seller.created' },
    ]);
  });

  it('refuses an unknown or suspended seller, an expiry in the past, an empty list of scopes and an invalid name', async () => {
    const { seller_id: sellerId } = await deployment.seller();
    const request = { sellerId, name: 'server', plan: 'free', scopes: ['users:read'] } as const;
    await expect(issueKey(deployment.admin, { ...request, sellerId: 'sel_none' })).rejects.toMatchObject({
      code: 'seller_not_found',
    });
    const suspended = await deployment.seller('Suspended Shop');
    await setSellerStatus(deployment.admin, suspended.seller_id, 'suspended');
    const forSuspended = { ...request, sellerId: suspended.seller_id };
    await expect(issueKey(deployment.admin, forSuspended)).rejects.toMatchObject({
      code: 'seller_suspended',
      message: expect.stringContaining('resume the seller'),
    });
    const past = Math.floor(deployment.clock() / 1000);
    await expect(issueKey(deployment.admin, { ...request, expiresAt: past })).rejects.toMatchObject({
      code: 'bad_input',
    });
    const onlyLinks = { ...request, scopes: ['buyers:links'] } as const;
    await expect(issueKey(deployment.admin, onlyLinks)).rejects.toMatchObject({
      code: 'bad_input',
      message: 'buyers:links is for the buyer app: grant it together with buyers:register.',
    });
    await expect(issueKey(deployment.admin, { ...request, scopes: [] })).rejects.toMatchObject({
      code: 'bad_input',
    });
    await expect(issueKey(deployment.admin, { ...request, name: ' ' })).rejects.toMatchObject({
      code: 'bad_input',
    });
    expect(await deployment.admin.keys.listOf(sellerId)).toEqual([]);
  });
});
