import { type RunningApiGateway, startApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let apiGateway: RunningApiGateway;
beforeAll(async () => {
  apiGateway = await startApiGateway();
  shell = await startTestShell(apiGateway);
});
afterAll(async () => {
  await shell.stop();
  await apiGateway.stop();
});

const newKey = async () => {
  const { seller_id } = await shell.json('sellers', 'create', 'Kaveh Books', '--yes');
  return shell.json('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read');
};

describe('reconcile', () => {
  it('finds no difference after complete commands, and exits with 1 if it finds one', async () => {
    const { key_id, seller_id } = await newKey();
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
    const [key] = await apiGateway.keys();
    await apiGateway.usagePlans.setEnabled(key?.id ?? '', false);
    const found = await shell.cli('reconcile', '--json');
    expect(found.exitCode).toBe(1);
    expect(JSON.parse(found.out).differences).toEqual([
      {
        kind: 'enabled_differs',
        detail: expect.any(String),
        seller_id,
        key_id,
        gateway_key_id: key?.id,
        repaired: false,
      },
    ]);
    expect((await shell.cli('reconcile')).error).toBe(
      'Compared 1 key of 1 seller with API Gateway: 1 difference, 0 repaired.\n',
    );
    expect((await shell.json('reconcile', '--fix')).differences).toMatchObject([{ repaired: true }]);
    expect(await shell.json('reconcile')).toMatchObject({ differences: [] });
  });
});
