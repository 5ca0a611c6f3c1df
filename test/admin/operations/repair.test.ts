/** Keys that change between the comparison, which found a difference, and its repair. */
import { assignPlan, setScopes } from '#admin/operations/change-key.ts';
import type { Difference } from '#admin/operations/differences.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { reconcile } from '#admin/operations/reconcile.ts';
import { repair } from '#admin/operations/repair.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { administrationBench } from './bench.ts';

type Bench = Awaited<ReturnType<typeof administrationBench>>;

let table: EmbeddedTable;
let bench: Bench;
let issued: Awaited<ReturnType<Bench['issued']>>;
beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());
beforeEach(async () => {
  bench = await administrationBench(table);
  issued = await bench.issued();
  bench.clock.advance(1);
});

const gatewayId = () => issued.key.gateway_key_id ?? '';

/** The only difference that a comparison finds now. */
const foundNow = async (): Promise<Difference> => {
  const { findings } = await reconcile(bench.admin, { fix: false });
  expect(findings).toHaveLength(1);
  return findings[0] as Difference;
};

const repairsRecorded = async () =>
  (await bench.admin.audit.list(issued.seller.seller_id, { limit: 100 })).filter(
    ({ action }) => action === 'reconcile.repaired' || action === 'key.registered_again',
  );

describe('a key that changes before the repair of its difference', () => {
  it('is not registered again if it was revoked', async () => {
    await bench.gateway.deleteKey(gatewayId());
    const difference = await foundNow();
    await revokeKey(bench.admin, issued.key.key_id);
    expect(await repair(bench.admin, difference)).toBe(true);
    expect(bench.gateway.held.size).toBe(0);
    expect(await bench.admin.keys.find(issued.key.key_id)).toMatchObject({ status: 'revoked' });
    expect(await repairsRecorded()).toEqual([]);
  });

  it('is not withdrawn if its issue was completed', async () => {
    const difference: Difference = { kind: 'issue_interrupted', seller: issued.seller, key: issued.key };
    expect(await repair(bench.admin, difference)).toBe(true);
    expect(await bench.works(issued.secret)).toBe(true);
  });

  it('is not recorded as repaired if the revoked key left API Gateway by itself', async () => {
    await revokeKey(bench.admin, issued.key.key_id);
    const key = (await bench.admin.keys.find(issued.key.key_id)) ?? issued.key;
    expect(await repair(bench.admin, { kind: 'revoked_in_gateway', seller: issued.seller, key })).toBe(true);
    expect(await repairsRecorded()).toEqual([]);
  });

  it('enters the plan that it has now', async () => {
    await bench.gateway.detach(gatewayId(), 'free');
    const difference = await foundNow();
    await assignPlan(bench.admin, issued.key.key_id, 'professional');
    await repair(bench.admin, difference);
    expect(bench.gateway.plans.get(gatewayId())).toEqual(new Set(['professional']));
    expect((await reconcile(bench.admin, { fix: false })).findings).toEqual([]);
  });

  it('is disabled again if its seller was suspended', async () => {
    await bench.gateway.deleteKey(gatewayId());
    const difference = await foundNow();
    // It rejects when it has written the table, since the key is not in API Gateway.
    await expect(setSellerStatus(bench.admin, issued.seller.seller_id, 'suspended')).rejects.toThrow();
    await repair(bench.admin, difference);
    expect([...bench.gateway.held.values()].map(({ enabled }) => enabled)).toEqual([false]);
  });

  it('is flushed once for every change up to now', async () => {
    await bench.interruptedBefore(2, () => setScopes(bench.admin, issued.key.key_id, ['users:write']));
    const difference = await foundNow();
    bench.clock.advance(1);
    await bench.interruptedBefore(1, () => setScopes(bench.admin, issued.key.key_id, ['users:read']));
    const flushes = bench.gateway.flushes();
    await repair(bench.admin, difference);
    expect(bench.gateway.flushes()).toBe(flushes + 1);
    expect((await reconcile(bench.admin, { fix: true })).findings).toEqual([]);
  });

  it('is left alone if it is gone', async () => {
    const request = {
      sellerId: issued.seller.seller_id,
      name: 'second',
      plan: 'free',
      scopes: ['users:read'],
    } as const;
    await bench.interruptedBefore(3, () => issueKey(bench.admin, request));
    bench.clock.advance(180);
    const difference = await foundNow();
    expect(await repair(bench.admin, difference)).toBe(true);
    expect(await repair(bench.admin, difference)).toBe(true);
    expect([...bench.gateway.held.keys()]).toEqual([gatewayId()]);
  });
});

describe('a key that only API Gateway has', () => {
  it('is not deleted if the table has it by now', async () => {
    const difference: Difference = { kind: 'unknown_in_gateway', gatewayKeyId: gatewayId() };
    expect(await repair(bench.admin, difference)).toBe(true);
    expect(await bench.works(issued.secret)).toBe(true);
  });

  it('is deleted alone, out of its plans, with a record before it', async () => {
    const name = 'buyer-linking-test-key_none';
    const { id } = await bench.gateway.createKey({ name, value: 'y'.repeat(40), enabled: true });
    await bench.gateway.attach(id, 'professional');
    const difference = await foundNow();
    const steps = await bench.stepsOf(() => repair(bench.admin, difference));
    expect(steps).toEqual([
      'repair: write the audit record',
      'repair: leave the plan free',
      'repair: leave the plan professional',
      'repair: delete the key from API Gateway',
    ]);
    expect([...bench.gateway.held.keys()]).toEqual([gatewayId()]);
  });

  it('of another service leaves the plan and stays', async () => {
    const { id } = await bench.gateway.createKey({ name: 'other', value: 'z'.repeat(40), enabled: true });
    await bench.gateway.attach(id, 'professional');
    await repair(bench.admin, await foundNow());
    expect(bench.gateway.plans.get(id)).toEqual(new Set());
    expect(bench.gateway.held.has(id)).toBe(true);
  });
});

describe('a seller whose change was not flushed', () => {
  it('is flushed, and its mark and the record are written at once', async () => {
    await bench.interruptedBefore(2, () =>
      setSellerStatus(bench.admin, issued.seller.seller_id, 'suspended'),
    );
    const { findings } = await reconcile(bench.admin, { fix: false });
    const difference = findings.find(({ kind, key }) => kind === 'not_flushed' && key === undefined);
    const flushes = bench.gateway.flushes();
    expect(await repair(bench.admin, difference as Difference)).toBe(true);
    expect(bench.gateway.flushes()).toBe(flushes + 1);
    expect((await bench.admin.sellers.find(issued.seller.seller_id))?.unflushed_since).toBeUndefined();
    expect(await repairsRecorded()).toMatchObject([{ details: { difference: 'not_flushed' } }]);
  });
});
