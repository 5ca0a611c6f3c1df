import { testPersonOf } from '#lib/canary/expectations.ts';
import { probe } from '#lib/canary/probe.ts';
import { startCommand } from '#test/admin/cli/cli-process.ts';
import { type RunningService, removeDataFolder, startRunningService } from '#test/service/running-service.ts';

describe('the probe of a stage with the sandbox', () => {
  let service: RunningService;
  let apiKey: string;
  let reader: string;
  let seller: string;

  // biome-ignore lint/suspicious/noExplicitAny: the tests check the shape of the result.
  const admin = async (...args: readonly string[]): Promise<any> =>
    JSON.parse((await startCommand(['--data', service.folder, '--json', ...args]).ended).out);

  /** Issues a key as docs/deploy.md says for these scopes. */
  const issue = async (scopes: string): Promise<string> =>
    (await admin('keys', 'issue', seller, '--plan', 'free', '--scopes', scopes)).key;

  beforeAll(async () => {
    service = await startRunningService({
      environment: { IDENTITY_PROVIDERS: 'sandbox', SMS_PROVIDERS: 'sandbox' },
    });
    seller = (await admin('sellers', 'create', 'Canary')).seller_id;
    apiKey = await issue('users:write');
    reader = await issue('users:read');
  });

  afterAll(async () => {
    await service.stop();
    await removeDataFolder(service.folder);
  });

  test('succeeds run after run, each with another person, and leaves no user', async () => {
    for (const serial of [0, 1, 2]) {
      await probe({ addresses: [service.demo.base_url], apiKey, testPerson: testPersonOf(serial) });
    }
    const get = async (path: string, key: string) =>
      (await fetch(`${service.demo.base_url}${path}`, { headers: { 'X-Api-Key': key } })).json();
    const { paid_checks } = (await get('/v1/key/usage', apiKey)) as { paid_checks: { count: number }[] };
    expect(paid_checks.reduce((sum, { count }) => sum + count, 0)).toBe(3);
    expect(await get('/v1/users', reader)).toMatchObject({ total: 0 });
  });
});
