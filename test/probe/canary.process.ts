import { probe } from '#probe/canary.ts';
import { testPersonOf } from '#probe/expectations.ts';
import { jsonOf } from '#test/admin/cli/cli-process.ts';
import { runCommand } from '#test/admin/cli/in-process.ts';
import { useService } from '#test/service/use-service.ts';

const service = useService();

test('the probe of a stage with the sandbox succeeds run after run with users:write alone, links a person once, and removes nobody', async () => {
  const admin = (...args: readonly string[]) =>
    jsonOf(runCommand(['--data', service.folder, '--json', ...args]));
  const { seller_id: seller } = await admin('sellers', 'create', 'Canary');
  const { key: apiKey } = await admin('keys', 'issue', seller, '--plan', 'free', '--scopes', 'users:write');
  for (const serial of [0, 1]) {
    await probe({ addresses: [service.demo.base_url], apiKey, testPerson: testPersonOf(serial) });
  }
  const usage = await fetch(`${service.demo.base_url}/v1/key/usage`, { headers: { 'X-Api-Key': apiKey } });
  const { paid_checks } = (await usage.json()) as { paid_checks: { count: number }[] };
  expect(paid_checks.reduce((sum, { count }) => sum + count, 0)).toBe(2);
  const { sellers } = await admin('sellers', 'list');
  expect(sellers).toContainEqual(expect.objectContaining({ seller_id: seller, users: 2 }));
});
