import { KEY_QUOTA, KEY_QUOTA_WARNING } from '#admin/usage-plans/port.ts';
import { startApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

/** A CLI whose account has this many keys of other services. */
const shellWith = async (count: number): Promise<{ shell: TestShell; stop: () => Promise<void> }> => {
  const keys = Array.from({ length: count }, (_, index) => ({
    id: `id${index}`,
    value: `${'v'.repeat(20)}${index}`,
    name: 'another service',
    enabled: true,
  }));
  const apiGateway = await startApiGateway({ keys });
  const shell = await startTestShell(apiGateway);
  return {
    shell,
    async stop() {
      await shell.stop();
      await apiGateway.stop();
    },
  };
};

const issue = async ({ json, cli }: TestShell) => {
  const { seller_id } = await json('sellers', 'create', 'Kaveh Books', '--yes');
  const outcome = await cli('keys', 'issue', seller_id, '--plan', 'free', '--scopes', 'users:read', '--json');
  return { seller_id, ...outcome };
};

describe('keys issue', () => {
  it.each([
    [KEY_QUOTA_WARNING - 2, ''],
    [KEY_QUOTA_WARNING - 1, expect.stringMatching(/^warning: .*at least 8000 API keys.*10000/)],
  ])('issues a key with %i keys in the account and writes %s to stderr', async (count, error) => {
    const { shell, stop } = await shellWith(count);
    expect(await issue(shell)).toMatchObject({ exitCode: 0, error });
    await stop();
  });

  it('refuses a key when the quota is used up, and leaves no pending key', async () => {
    const { shell, stop } = await shellWith(KEY_QUOTA);
    const { seller_id, exitCode, error } = await issue(shell);
    expect(exitCode).toBe(1);
    expect(JSON.parse(error)).toMatchObject({ error: { code: 'key_quota_reached' } });
    expect(await shell.json('keys', 'list', seller_id)).toEqual({ keys: [] });
    await stop();
  });
});
