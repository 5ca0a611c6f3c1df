import { issueKey } from '#admin/operations/issue-key.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import { useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();

describe('setSellerStatus', () => {
  it('writes no secret of a key whose issue is not completed, so that nothing is left of it once it is withdrawn', async () => {
    const deployment = await newAdministration();
    const { admin } = deployment;
    const { seller_id: sellerId } = await deployment.seller();
    const request = { sellerId, name: 'server', plan: 'free', scopes: ['users:read'] } as const;
    await deployment.interruptedBefore('issue: activate', () => issueKey(admin, request));
    await setSellerStatus(admin, sellerId, 'suspended');
    await setSellerStatus(admin, sellerId, 'active');
    const keys = await admin.keys.listOf(sellerId);
    expect(keys).toMatchObject([{ status: 'pending', secrets: [expect.anything()] }]);
    expect((await admin.keys.findSecrets(keys)).size).toBe(0);
  });
});
