import { assignPlan, setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { findDifferences } from '#admin/operations/reconcile.ts';
import { renameSeller, setSellerStatus, setSellerTemplates } from '#admin/operations/sellers.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
const ACTIVATE = 'write KEY SECRET AUDIT';
let deployment: TestAdministration;
beforeEach(async () => {
  deployment = await newAdministration();
});

describe('the administration', () => {
  it('keeps both of two different changes of one key that happen at the same time', async () => {
    const { key } = await deployment.issued();
    await Promise.all([
      assignPlan(deployment.admin, key.key_id, 'professional'),
      setScopes(deployment.admin, key.key_id, ['users:write']),
    ]);
    expect(await deployment.admin.keys.find(key.key_id)).toMatchObject({
      plan: 'professional',
      scopes: ['users:write'],
    });
  });

  it('lets the first of two admins change a seller, and the second one try again', async () => {
    const { admin, beforeEachWrite } = deployment;
    const { seller_id: id } = await deployment.seller();
    const setTemplate = (provider: string, template: string | number) =>
      setSellerTemplates(admin, id, { locale: 'fa', set: { [provider]: template }, remove: [] });
    const changes = {
      rename: [() => renameSeller(admin, id, 'First'), () => renameSeller(admin, id, 'Second')],
      suspend: [() => setSellerStatus(admin, id, 'suspended'), () => setSellerStatus(admin, id, 'suspended')],
      resume: [() => setSellerStatus(admin, id, 'active'), () => setSellerStatus(admin, id, 'active')],
      templates: [() => setTemplate('kavenegar', 'shop'), () => setTemplate('sms-ir', 200_001)],
    } as const;
    for (const [first, second] of Object.values(changes)) {
      let isDone = false;
      const meanwhile = async (): Promise<void> => {
        if (isDone) return;
        isDone = true;
        await first();
      };
      await expect(beforeEachWrite(meanwhile, second)).rejects.toMatchObject({ code: 'changed_meanwhile' });
    }
    await setTemplate('sms-ir', 200_001);
    expect(await admin.sellers.find(id)).toMatchObject({
      ...{ name: 'First', status: 'active' },
      message_templates: { kavenegar: { fa: 'shop' }, 'sms-ir': { fa: 200_001 } },
    });
  });

  it('withdraws a key whose seller is suspended while the key is being issued', async () => {
    const { seller } = await deployment.issued();
    const request = {
      sellerId: seller.seller_id,
      name: 'late',
      plan: 'free',
      scopes: ['users:read'],
    } as const;
    const { admin, beforeEachWrite } = deployment;
    const writes: string[] = [];
    const meanwhile = async (write: string) => {
      writes.push(write);
      // The key is in its plan in API Gateway and is about to be activated.
      await (write === ACTIVATE && setSellerStatus(admin, seller.seller_id, 'suspended'));
    };
    const issue = beforeEachWrite(meanwhile, () => issueKey(admin, request));
    await expect(issue).rejects.toMatchObject({ code: 'seller_suspended' });
    expect(writes.slice(writes.indexOf('attach free'))).toEqual([
      'attach free',
      ACTIVATE,
      'detach free',
      'detach professional',
      'deleteKey',
      'write KEY KEYID AUDIT',
    ]);
    expect(await deployment.admin.keys.listOf(seller.seller_id)).toHaveLength(1);
    expect(await deployment.gatewayKeys()).toHaveLength(1);
    expect((await findDifferences(deployment.admin)).differences).toEqual([]);
  });
});
