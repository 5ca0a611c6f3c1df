import { type CliBench, startCliBench } from './cli-bench.ts';

let bench: CliBench;
beforeAll(async () => {
  bench = await startCliBench();
});
afterAll(() => bench.stop());

const newKey = async () => {
  const { seller_id } = await bench.json('sellers', 'create', 'Kaveh Books');
  return bench.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
};

describe('reconcile', () => {
  it('finds no difference after complete commands, and exits with 1 if it finds one', async () => {
    const { key_id, seller_id } = await newKey();
    expect(await bench.json('reconcile')).toMatchObject({ differences: [] });
    const [key] = await bench.admin.keys.listOf(seller_id);
    await bench.apiGateway.usagePlans.setEnabled(key?.gateway_key_id ?? '', false);
    const found = await bench.cli('reconcile', '--json');
    expect(found.exitCode).toBe(1);
    expect(JSON.parse(found.out).differences).toEqual([
      {
        kind: 'disabled_but_active',
        detail: expect.any(String),
        seller_id,
        key_id,
        gateway_key_id: key?.gateway_key_id,
        repaired: false,
      },
    ]);
    expect((await bench.cli('reconcile')).error).toContain('1 differences, 0 repaired');
    expect((await bench.json('reconcile', '--fix')).differences).toMatchObject([{ repaired: true }]);
    expect(await bench.json('reconcile')).toMatchObject({ differences: [] });
  });
});

describe('reconcile --fix', () => {
  it('deletes keys that are missing in the table only after a confirmation', async () => {
    const unknown = { name: 'buyer-linking-local-key_unknown', value: 's'.repeat(40), enabled: true };
    const { id } = await bench.apiGateway.usagePlans.createKey(unknown);
    const refused = await bench.cli('reconcile', '--fix');
    expect(refused).toMatchObject({ exitCode: 1, error: expect.stringContaining('Delete 1 keys') });
    expect(JSON.parse((await bench.cli('reconcile', '--json')).out).differences).toMatchObject([
      { gateway_key_id: id },
    ]);
    expect((await bench.json('reconcile', '--fix', '--yes')).differences).toMatchObject([{ repaired: true }]);
    expect(await bench.json('reconcile')).toMatchObject({ differences: [] });
  });
});
