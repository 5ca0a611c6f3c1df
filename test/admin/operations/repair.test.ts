/** Keys that change between the comparison, which found a difference, and its repair. */
import { assignPlan, revokeKey, setExpiry } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { type Difference, findDifferences, repair } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { PLAN_NAMES, type PlanName } from '#shared/rate-limits/plans.ts';
import { reconciled } from '#test/admin/operations/reconciled.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let issued: Awaited<ReturnType<TestAdministration['issued']>>;
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
  gatewayId = await deployment.gatewayIdOf(issued.key.key_id);
  deployment.clock.advance(1);
});

let gatewayId: string;

const inSeconds = (seconds: number): number => Math.floor(deployment.clock() / 1000) + seconds;

/** The plans that a key of API Gateway is in. */
const plansOf = async (id: string): Promise<PlanName[]> => {
  const plans: PlanName[] = [];
  for (const plan of PLAN_NAMES) {
    const members = await Array.fromAsync(deployment.gateway.listMembers(plan));
    if (members.some((member) => member.id === id)) plans.push(plan);
  }
  return plans;
};

/** The only difference that a comparison finds now. */
const foundNow = async (): Promise<Difference> => {
  const { differences } = await findDifferences(deployment.admin);
  expect(differences).toHaveLength(1);
  return differences[0] as Difference;
};

const repairsRecorded = async () =>
  (await deployment.admin.audit.list(issued.seller.seller_id, { limit: 100 })).filter(
    ({ action }) => action === 'reconcile.repaired',
  );

describe('a key that changes before the repair of its difference', () => {
  it('is not registered again if it was revoked', async () => {
    await deployment.gateway.deleteKey(gatewayId);
    const difference = await foundNow();
    await revokeKey(deployment.admin, issued.key.key_id);
    await repair(deployment.admin, difference);
    expect(await deployment.gatewayKeys()).toEqual([]);
    expect(await deployment.admin.keys.find(issued.key.key_id)).toMatchObject({ status: 'revoked' });
    expect(await repairsRecorded()).toEqual([]);
  });

  it('is not withdrawn if its issue was completed', async () => {
    const difference: Difference = { kind: 'issue_interrupted', seller: issued.seller, key: issued.key };
    await repair(deployment.admin, difference);
    expect(await deployment.works(issued.secret)).toBe(true);
  });

  it('is not recorded as repaired if the revoked key left API Gateway by itself', async () => {
    await revokeKey(deployment.admin, issued.key.key_id);
    const key = (await deployment.admin.keys.find(issued.key.key_id)) ?? issued.key;
    await repair(deployment.admin, { kind: 'revoked_in_gateway', seller: issued.seller, key });
    expect(await repairsRecorded()).toEqual([]);
  });

  it('enters the plan that it has now', async () => {
    await deployment.gateway.detach(gatewayId, 'free');
    const difference = await foundNow();
    await assignPlan(deployment.admin, issued.key.key_id, 'professional');
    await repair(deployment.admin, difference);
    expect(await plansOf(gatewayId)).toEqual(['professional']);
    expect((await findDifferences(deployment.admin)).differences).toEqual([]);
  });

  it('is disabled again if its seller was suspended', async () => {
    await deployment.gateway.deleteKey(gatewayId);
    const difference = await foundNow();
    await setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended');
    await repair(deployment.admin, difference);
    expect((await deployment.gatewayKeys()).map(({ enabled }) => enabled)).toEqual([false]);
  });

  it('is flushed once for every change up to now', async () => {
    await deployment.interruptedBefore('flush', () =>
      setExpiry(deployment.admin, issued.key.key_id, inSeconds(90)),
    );
    const difference = await foundNow();
    deployment.clock.advance(1);
    await deployment.interruptedBefore('flush', () =>
      setExpiry(deployment.admin, issued.key.key_id, inSeconds(60)),
    );
    const flushes = deployment.flushes();
    await repair(deployment.admin, difference);
    expect(deployment.flushes()).toBe(flushes + 1);
    expect((await reconciled(deployment.admin)).differences).toEqual([]);
  });

  it('is left alone if it is gone', async () => {
    const request = {
      sellerId: issued.seller.seller_id,
      name: 'second',
      plan: 'free',
      scopes: ['users:read'],
    } as const;
    await deployment.interruptedBefore('write KEY SECRET AUDIT', () => issueKey(deployment.admin, request));
    deployment.clock.advance(180);
    const difference = await foundNow();
    await repair(deployment.admin, difference);
    await repair(deployment.admin, difference);
    expect((await deployment.gatewayKeys()).map(({ id }) => id)).toEqual([gatewayId]);
  });
});

describe('a key that only API Gateway has', () => {
  it('is not deleted if the table has it by now', async () => {
    const [gatewayKey] = await deployment.gatewayKeys();
    const difference: Difference = { kind: 'unknown_in_gateway', gatewayKey };
    await repair(deployment.admin, difference);
    expect(await deployment.works(issued.secret)).toBe(true);
  });
});
