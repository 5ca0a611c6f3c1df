import { assignPlan, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let bench: TestAdministration;
let keyId: string;
let sellerId: string;
beforeEach(async () => {
  bench = await newAdministration();
  const { key, seller } = await bench.issued();
  keyId = key.key_id;
  sellerId = seller.seller_id;
  bench.clock.advance(1);
});

const actions = async () =>
  (await bench.admin.audit.list(sellerId, { limit: 10 })).map(({ action }) => action);

describe('a change of a key', () => {
  it.each([
    ['key.assigned', () => assignPlan(bench.admin, keyId, 'professional')],
    ['key.scopes_set', () => setScopes(bench.admin, keyId, ['users:write'])],
    ['key.expiry_set', () => setExpiry(bench.admin, keyId, 4_000_000_000)],
    ['key.limits_set', () => setKeyLimits(bench.admin, keyId, { set: { 'sms-per-hour': 5 }, unset: [] })],
    ['key.revoked', () => revokeKey(bench.admin, keyId)],
  ] as const)('writes one record %s when the change is repeated', async (action, change) => {
    await change();
    bench.clock.advance(1);
    await change();
    expect(await actions()).toEqual([action, 'key.issued', 'seller.created']);
  });

  it('completes an interrupted change when the change is repeated', async () => {
    const change = () => assignPlan(bench.admin, keyId, 'professional');
    await bench.interruptedBefore(1, change);
    expect((await bench.admin.keys.find(keyId))?.unflushed_since).toBeDefined();
    await change();
    const key = await bench.admin.keys.find(keyId);
    expect(key).toMatchObject({ plan: 'professional' });
    expect(key?.unflushed_since).toBeUndefined();
    expect(await Array.fromAsync(bench.gateway.listMembers('professional'))).toMatchObject([
      { id: key?.gateway_key_id },
    ]);
  });
});
