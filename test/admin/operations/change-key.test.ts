import { requireKey } from '#admin/administration.ts';
import { assignPlan, revokeKey, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { flushAfterChange } from '#admin/operations/key-state.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let keyId: string;
let sellerId: string;
beforeEach(async () => {
  deployment = await newAdministration();
  const { key, seller } = await deployment.issued();
  keyId = key.key_id;
  sellerId = seller.seller_id;
  deployment.clock.advance(1);
});

const actions = async () =>
  (await deployment.admin.audit.list(sellerId, { limit: 10 })).map(({ action }) => action);

describe('a change of a key', () => {
  it.each([
    ['key.assigned', () => assignPlan(deployment.admin, keyId, 'professional')],
    ['key.scopes_set', () => setScopes(deployment.admin, keyId, ['users:write'])],
    ['key.expiry_set', () => setExpiry(deployment.admin, keyId, 4_000_000_000)],
    [
      'key.limits_set',
      () => setKeyLimits(deployment.admin, keyId, { set: { 'sms-per-hour': 5 }, unset: [] }),
    ],
    ['key.revoked', () => revokeKey(deployment.admin, keyId)],
  ] as const)('writes one record %s when the change is repeated', async (action, change) => {
    await change();
    deployment.clock.advance(1);
    await change();
    expect(await actions()).toEqual([action, 'key.issued', 'seller.created']);
  });

  it('refuses buyers:links without buyers:register, and grants both together', async () => {
    const { admin } = deployment;
    await expect(setScopes(admin, keyId, ['users:read', 'buyers:links'])).rejects.toMatchObject({
      code: 'bad_input',
    });
    await setScopes(admin, keyId, ['buyers:register', 'buyers:links']);
    expect((await admin.keys.find(keyId))?.scopes).toEqual(['buyers:register', 'buyers:links']);
  });

  it('keeps the mark of a later change when an earlier one is flushed', async () => {
    const { admin, clock, interruptedBefore } = deployment;
    await interruptedBefore('flushAuthorizerCache', () => setExpiry(admin, keyId, 4_000_000_000));
    const earlier = await requireKey(admin, keyId);
    clock.advance(1);
    await interruptedBefore('flushAuthorizerCache', () => setExpiry(admin, keyId, 4_000_000_001));
    await flushAfterChange(admin, earlier);
    expect((await requireKey(admin, keyId)).unflushed_since).toBe(admin.now());
  });

  it('completes an interrupted change when the change is repeated', async () => {
    const change = () => assignPlan(deployment.admin, keyId, 'professional');
    await deployment.interruptedBefore('flushAuthorizerCache', change);
    expect((await deployment.admin.keys.find(keyId))?.unflushed_since).toBeDefined();
    await deployment.interruptedBefore('attach professional', change);
    await change();
    const key = await deployment.admin.keys.find(keyId);
    expect(key).toMatchObject({ plan: 'professional' });
    expect(key?.unflushed_since).toBeUndefined();
    expect(await Array.fromAsync(deployment.gateway.listMembers('professional'))).toMatchObject([
      { id: await deployment.gatewayIdOf(keyId) },
    ]);
  });
});
