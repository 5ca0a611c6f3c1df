import { requireKey } from '#admin/administration.ts';
import {
  assignPlan,
  renameKey,
  revokeKey,
  rotateKey,
  setExpiry,
  setScopes,
} from '#admin/operations/change-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { flushAfterChange } from '#admin/operations/key-state.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
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
    await interruptedBefore('flushAuthorizerCache', () => setExpiry(admin, keyId, inSeconds(90)));
    const earlier = await requireKey(admin, keyId);
    clock.advance(1);
    await interruptedBefore('flushAuthorizerCache', () => setExpiry(admin, keyId, inSeconds(60)));
    await flushAfterChange(admin, earlier);
    expect((await requireKey(admin, keyId)).unflushed_since).toBe(admin.now());
  });

  it('completes an interrupted change when the change is repeated', async () => {
    await assignPlan(deployment.admin, keyId, 'professional');
    const change = () => assignPlan(deployment.admin, keyId, 'free');
    await deployment.interruptedBefore('flushAuthorizerCache', change);
    expect((await deployment.admin.keys.find(keyId))?.unflushed_since).toBeDefined();
    await deployment.interruptedBefore('attach free', change);
    await change();
    const key = await deployment.admin.keys.find(keyId);
    expect(key).toMatchObject({ plan: 'free' });
    expect(key?.unflushed_since).toBeUndefined();
    expect(await Array.fromAsync(deployment.gateway.listMembers('free'))).toMatchObject([
      { id: await deployment.gatewayIdOf(keyId) },
    ]);
  });
});

describe('the authorizer cache', () => {
  const limits = (smsPerHour: number) =>
    setKeyLimits(deployment.admin, keyId, { set: { 'sms-per-hour': smsPerHour }, unset: [] });
  const planLimits = () => setKeyLimits(deployment.admin, keyId, { set: {}, unset: ['sms-per-hour'] });
  const nothing = async () => {};

  /** Returns how often a change flushes the cache. */
  const flushesOf = async (change: () => Promise<unknown>): Promise<number> => {
    const before = deployment.flushes();
    await change();
    return deployment.flushes() - before;
  };

  it.each([
    ['a scope is taken away', nothing, () => setScopes(deployment.admin, keyId, ['users:write'])],
    [
      'the plan becomes smaller',
      () => assignPlan(deployment.admin, keyId, 'professional'),
      () => assignPlan(deployment.admin, keyId, 'free'),
    ],
    ['a limit becomes smaller', nothing, () => limits(99)],
    ['a larger limit ends', () => limits(101), planLimits],
    ['the key ends within ten minutes', nothing, () => setExpiry(deployment.admin, keyId, inSeconds(599))],
    ['the old secret ends at once', nothing, () => rotateKey(deployment.admin, keyId, 0)],
    ['the old secret ends within ten minutes', nothing, () => rotateKey(deployment.admin, keyId, 599)],
    ['a key is revoked', nothing, () => revokeKey(deployment.admin, keyId)],
    ['a seller is suspended', nothing, () => setSellerStatus(deployment.admin, sellerId, 'suspended')],
  ] as const)('is flushed once when %s', async (_title, prepare, change) => {
    await prepare();
    expect(await flushesOf(change)).toBe(1);
  });

  it.each([
    ['a scope is added', nothing, () => setScopes(deployment.admin, keyId, ['users:write', 'users:read'])],
    ['the plan becomes larger', nothing, () => assignPlan(deployment.admin, keyId, 'professional')],
    ['a limit becomes larger', nothing, () => limits(101)],
    ['a smaller limit ends', () => limits(99), planLimits],
    ['the key ends in ten minutes', nothing, () => setExpiry(deployment.admin, keyId, inSeconds(600))],
    [
      'the key ends later',
      () => setExpiry(deployment.admin, keyId, inSeconds(60)),
      () => setExpiry(deployment.admin, keyId, inSeconds(61)),
    ],
    ['the old secret ends in ten minutes', nothing, () => rotateKey(deployment.admin, keyId, 600)],
    [
      'a secret that has ended is dropped',
      async () => {
        await rotateKey(deployment.admin, keyId, 1);
        deployment.clock.advance(1);
      },
      () => rotateKey(deployment.admin, keyId, 3600),
    ],
    ['the key is renamed', nothing, () => renameKey(deployment.admin, keyId, 'checkout')],
    [
      'a seller is resumed',
      () => setSellerStatus(deployment.admin, sellerId, 'suspended'),
      () => setSellerStatus(deployment.admin, sellerId, 'active'),
    ],
  ] as const)('is not flushed when %s', async (_title, prepare, change) => {
    await prepare();
    expect(await flushesOf(change)).toBe(0);
  });
});
