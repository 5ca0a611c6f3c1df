import { issueKey } from '#admin/operations/issue-key.ts';
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
});

const records = async (action: string) =>
  (await bench.admin.audit.list(issued.seller.seller_id, { limit: 100 })).filter(
    (record) => record.action === action,
  );

describe('revokeKey', () => {
  it('makes the secret invalid, deletes the key from API Gateway and keeps it in the table', async () => {
    const revoked = await revokeKey(bench.admin, issued.key.key_id);
    expect(await bench.works(issued.secret)).toBe(false);
    expect(bench.gateway.held.size).toBe(0);
    expect(revoked.status).toBe('revoked');
    expect(revoked.gateway_key_id).toBeUndefined();
    expect(await bench.admin.keys.find(issued.key.key_id)).toMatchObject({ status: 'revoked' });
  });

  it('deletes the disabled key of a suspended seller from API Gateway too', async () => {
    await setSellerStatus(bench.admin, issued.seller.seller_id, 'suspended');
    await revokeKey(bench.admin, issued.key.key_id);
    expect(bench.gateway.held.size).toBe(0);
    await setSellerStatus(bench.admin, issued.seller.seller_id, 'active');
    expect(await bench.works(issued.secret)).toBe(false);
  });

  it('deletes no other key whose name begins alike', async () => {
    const name = `${bench.admin.gatewayKeyName(issued.key.key_id)}0`;
    const { id } = await bench.gateway.createKey({ name, value: 'v'.repeat(40), enabled: true });
    await revokeKey(bench.admin, issued.key.key_id);
    expect([...bench.gateway.held.keys()]).toEqual([id]);
  });

  it('writes one record however often it runs', async () => {
    await revokeKey(bench.admin, issued.key.key_id);
    await revokeKey(bench.admin, issued.key.key_id);
    expect(await records('key.revoked')).toHaveLength(1);
  });

  it('withdraws a key whose issue was interrupted, from API Gateway and from the table', async () => {
    const request = {
      sellerId: issued.seller.seller_id,
      name: 'second',
      plan: 'free',
      scopes: ['users:read'],
    } as const;
    await bench.interruptedBefore(3, () => issueKey(bench.admin, request));
    const pending = (await bench.admin.keys.listOf(request.sellerId)).find(
      ({ status }) => status === 'pending',
    );
    expect(await revokeKey(bench.admin, pending?.key_id ?? '')).toMatchObject({ status: 'revoked' });
    expect(await bench.admin.keys.find(pending?.key_id ?? '')).toBeUndefined();
    expect([...bench.gateway.held.keys()]).toEqual([issued.key.gateway_key_id]);
    expect([(await records('key.withdrawn')).length, (await records('key.revoked')).length]).toEqual([1, 0]);
  });
});
