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

  it('refuses an unknown or suspended seller, an expiry in the past, scopes that are not for a key and an invalid name', async () => {
    const { admin, clock, seller } = deployment;
    const { seller_id: sellerId } = await seller();
    const { seller_id: suspended } = await seller('Suspended Shop');
    await setSellerStatus(admin, suspended, 'suspended');
    const refused = [
      [{ sellerId: 'sel_none' }, 'seller_not_found', 'There is no seller sel_none.'],
      [{ sellerId: suspended }, 'seller_suspended', 'resume the seller'],
      [{ expiresAt: Math.floor(clock() / 1000) }, 'bad_input', 'in the future'],
      [{ scopes: ['buyers:links'] }, 'bad_input', 'grant it together with buyers:register.'],
      [{ scopes: [] }, 'bad_input', 'at least one scope'],
      [{ name: ' ' }, 'bad_input', '1 to 100 visible characters'],
    ] as const;
    for (const [wrong, code, words] of refused) {
      const request = { sellerId, name: 'server', plan: 'free', scopes: ['users:read'], ...wrong } as const;
      const message = expect.stringContaining(words);
      await expect(issueKey(admin, request)).rejects.toMatchObject({ code, message });
    }
    expect([...(await admin.keys.listOf(sellerId)), ...(await admin.keys.listOf(suspended))]).toEqual([]);
  });
});
