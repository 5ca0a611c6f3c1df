import { requireKey } from '#admin/administration.ts';
import {
  assignPlan,
  renameKey,
  revokeKey,
  rotateKey,
  setExpiry,
  setScopes,
} from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { flushAfterChange } from '#admin/operations/key-state.ts';
import { renameSeller, setSellerStatus } from '#admin/operations/sellers.ts';
import { itForAll } from '#test/for-all.ts';
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

const inSeconds = (seconds: number): number => Math.floor(deployment.admin.clock() / 1000) + seconds;

const records = () => deployment.admin.audit.list(sellerId, { limit: 10 });

type ChangeOfKey = (admin: TestAdministration['admin'], keyId: string) => Promise<unknown>;

describe('a change of a key', () => {
  it.each<[string, object, () => Promise<unknown>]>([
    [
      'key.assigned',
      { from: 'free', to: 'professional' },
      () => assignPlan(deployment.admin, keyId, 'professional'),
    ],
    [
      'key.scopes_set',
      { from: 'users:read', to: 'users:write buyers:register' },
      () => setScopes(deployment.admin, keyId, ['users:write', 'buyers:register']),
    ],
    [
      'key.expiry_set',
      { from: 'never', to: '2096-10-02T07:06:40.000Z' },
      () => setExpiry(deployment.admin, keyId, 4_000_000_000),
    ],
    [
      'key.limits_set',
      { from: 'none', to: 'paid-checks-per-day=9 sms-per-hour=5' },
      () =>
        setKeyLimits(deployment.admin, keyId, {
          set: { 'sms-per-hour': 5, 'paid-checks-per-day': 9 },
          unset: [],
        }),
    ],
    ['key.renamed', { from: 'server', to: 'checkout' }, () => renameKey(deployment.admin, keyId, 'checkout')],
    ['key.revoked', {}, () => revokeKey(deployment.admin, keyId)],
    [
      'seller.renamed',
      { from: 'Kaveh Books', to: 'Parvin Shoes' },
      () => renameSeller(deployment.admin, sellerId, 'Parvin Shoes'),
    ],
    ['seller.suspended', {}, () => setSellerStatus(deployment.admin, sellerId, 'suspended')],
  ])(
    'writes one record %s, with what was and what is, when the change is repeated',
    async (action, details, change) => {
      await change();
      deployment.clock.advance(1);
      await change();
      const [record, ...earlier] = await records();
      const ofKey = action.startsWith('key.') ? { key_id: keyId } : {};
      expect(record).toMatchObject({ action, actor: 'local:tester', seller_id: sellerId, details, ...ofKey });
      expect(earlier.map((each) => each.action)).toEqual(['key.issued', 'seller.created']);
    },
  );

  itForAll<[string, ChangeOfKey]>([
    ['the plan', (admin, id) => assignPlan(admin, id, 'professional')],
    ['the scopes', (admin, id) => setScopes(admin, id, ['users:write'])],
    ['the name', (admin, id) => renameKey(admin, id, 'checkout')],
    ['the expiry', (admin, id) => setExpiry(admin, id, undefined)],
    ['the limits', (admin, id) => setKeyLimits(admin, id, { set: { 'sms-per-hour': 5 }, unset: [] })],
    ['the secret', (admin, id) => rotateKey(admin, id, 0)],
  ])('is refused if the key is revoked, or its issue is not completed', async (_what, change) => {
    const { admin, interruptedBefore } = deployment;
    const request = { sellerId, name: 'second', plan: 'free', scopes: ['users:read'] } as const;
    await interruptedBefore('write KEY SECRET AUDIT', () => issueKey(admin, request));
    await revokeKey(admin, keyId);
    const keys = await admin.keys.listOf(sellerId);
    const codeFor = async (status: string): Promise<string> => {
      const { key_id = '' } = keys.find((key) => key.status === status) ?? {};
      return change(admin, key_id).then(
        () => 'none',
        ({ code }) => code,
      );
    };
    expect([await codeFor('revoked'), await codeFor('pending')]).toEqual(['key_revoked', 'key_pending']);
    expect(await admin.keys.listOf(sellerId)).toEqual(keys);
  });

  it('to an expiry that is not in the future is refused, and one a second later is not', async () => {
    await expect(setExpiry(deployment.admin, keyId, inSeconds(0))).rejects.toMatchObject({
      code: 'bad_input',
    });
    expect(await setExpiry(deployment.admin, keyId, inSeconds(1))).toMatchObject({
      expires_at: inSeconds(1),
    });
  });

  it('to no scopes, or to buyers:links without buyers:register, is refused, and both together are granted', async () => {
    const { admin } = deployment;
    for (const scopes of [[], ['users:read', 'buyers:links']] as const)
      await expect(setScopes(admin, keyId, scopes)).rejects.toMatchObject({ code: 'bad_input' });
    await setScopes(admin, keyId, ['buyers:register', 'buyers:links']);
    expect((await admin.keys.find(keyId))?.scopes).toEqual(['buyers:register', 'buyers:links']);
  });

  it('keeps the mark of a later change when an earlier one is flushed', async () => {
    const { admin, clock, interruptedBefore } = deployment;
    await interruptedBefore('flush', () => setExpiry(admin, keyId, inSeconds(90)));
    const earlier = await requireKey(admin, keyId);
    clock.advance(1);
    await interruptedBefore('flush', () => setExpiry(admin, keyId, inSeconds(60)));
    await flushAfterChange(admin, earlier);
    expect((await requireKey(admin, keyId)).unflushed_since).toBe(admin.now());
  });

  it('completes an interrupted change when the change is repeated', async () => {
    const end = inSeconds(60);
    await deployment.interruptedBefore('flush', () => setExpiry(deployment.admin, keyId, end));
    expect((await deployment.admin.keys.find(keyId))?.unflushed_since).toBeDefined();
    await setExpiry(deployment.admin, keyId, end);
    expect((await deployment.admin.keys.find(keyId))?.unflushed_since).toBeUndefined();
    await deployment.interruptedBefore('attach professional', () =>
      assignPlan(deployment.admin, keyId, 'professional'),
    );
    await assignPlan(deployment.admin, keyId, 'professional');
    expect(await Array.fromAsync(deployment.gateway.listMembers('professional'))).toMatchObject([
      { id: await deployment.gatewayIdOf(keyId) },
    ]);
  });

  /** A cached decision on the key is at most 300 seconds old, and the write takes some of them. */
  const REACH = 600;

  itForAll<[string, ChangeOfKey, ChangeOfKey?]>([
    ['an end of the key before the reach', (admin, id) => setExpiry(admin, id, inSeconds(REACH - 1))],
    [
      'a sooner end of a key that ends soon',
      (admin, id) => setExpiry(admin, id, inSeconds(299)),
      (admin, id) => setExpiry(admin, id, inSeconds(300)),
    ],
    ['a rotation without a grace', (admin, id) => rotateKey(admin, id, 0)],
    ['a rotation with a grace shorter than the reach', (admin, id) => rotateKey(admin, id, REACH - 1)],
    [
      'a sooner end of an older secret',
      (admin, id) => rotateKey(admin, id, 60),
      (admin, id) => rotateKey(admin, id, 3600),
    ],
  ])('that is %s flushes the authorizer cache', async (_what, change, prepare) => {
    const { key_id } = (await deployment.issued()).key;
    await prepare?.(deployment.admin, key_id);
    const flushes = deployment.flushes();
    await change(deployment.admin, key_id);
    expect(deployment.flushes()).toBe(flushes + 1);
  });

  itForAll<[string, ChangeOfKey, ChangeOfKey?]>([
    ['a smaller set of scopes', (admin, id) => setScopes(admin, id, ['users:write'])],
    [
      'a smaller plan',
      (admin, id) => assignPlan(admin, id, 'free'),
      (admin, id) => assignPlan(admin, id, 'professional'),
    ],
    ['a smaller limit', (admin, id) => setKeyLimits(admin, id, { set: { 'sms-per-hour': 0 }, unset: [] })],
    ['an end of the key at the reach', (admin, id) => setExpiry(admin, id, inSeconds(REACH))],
    [
      'a later end of a key that ends soon',
      (admin, id) => setExpiry(admin, id, inSeconds(61)),
      (admin, id) => setExpiry(admin, id, inSeconds(60)),
    ],
    ['a rotation with a grace of the reach', (admin, id) => rotateKey(admin, id, REACH)],
    [
      'a rotation that drops a secret that has ended',
      (admin, id) => rotateKey(admin, id, 3600),
      async (admin, id) => {
        await rotateKey(admin, id, 3600);
        deployment.clock.advance(3601);
      },
    ],
  ])('that is %s flushes nothing: it takes effect within five minutes', async (_what, change, prepare) => {
    const { key_id } = (await deployment.issued()).key;
    await prepare?.(deployment.admin, key_id);
    const flushes = deployment.flushes();
    await change(deployment.admin, key_id);
    expect(deployment.flushes()).toBe(flushes);
  });
});
