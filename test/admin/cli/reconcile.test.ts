import { UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { apiKeyKey, type ItemKey, keySecretKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import { type RunningApiGateway, startApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startTestShell, type TestShell } from './test-shell.ts';

let shell: TestShell;
let apiGateway: RunningApiGateway;
beforeEach(async () => {
  apiGateway = await startApiGateway();
  shell = await startTestShell(apiGateway);
});
afterEach(async () => {
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

describe('a key with a scope and a plan of a later version', () => {
  const later = { scopes: ['users:read', 'users:archive'], plan: 'gold' };

  /** Issues a key, and writes the values as a later version does. Returns what reads and counts them. */
  const laterKey = async () => {
    const { key_id, seller_id, key: secret } = await newKey();
    const keys: readonly ItemKey[] = [apiKeyKey(seller_id, key_id), keySecretKey(hashApiKey(secret))];
    for (const Key of keys) {
      const UpdateExpression = 'SET scopes = :scopes, #plan = :plan';
      const ExpressionAttributeValues = { ':scopes': later.scopes, ':plan': later.plan };
      const update = {
        UpdateExpression,
        ExpressionAttributeNames: { '#plan': 'plan' },
        ExpressionAttributeValues,
      };
      await shell.table.client.send(new UpdateCommand({ TableName: shell.table.name, Key, ...update }));
    }
    const stored = () => Promise.all(keys.map((key) => getItem(shell.table, key)));
    return { key_id, seller_id, secret, stored };
  };

  it('is shown, stays what it is in changes of something else, and is in no difference', async () => {
    const { key_id, seller_id, secret, stored } = await laterKey();
    expect(await shell.json('keys', 'show', key_id)).toMatchObject(later);
    const found = await shell.cliWithInput(secret, 'keys', 'find', '--json');
    expect(JSON.parse(found.out)).toMatchObject({ key_id, ...later });
    await shell.countRequest(key_id);
    for (const command of [
      ['keys', 'list'],
      ['sellers', 'show', seller_id],
      ['sellers', 'suspend', seller_id, '--yes'],
      ['sellers', 'resume', seller_id],
      ['keys', 'rename', key_id, 'another name'],
      ['keys', 'rotate', key_id],
      ['keys', 'expire', key_id, '--at', '90d', '--yes'],
      ['keys', 'limits', key_id, '--set', 'sms-per-hour=1', '--yes'],
      ['keys', 'limits', key_id],
      ['usage'],
      ['info'],
    ])
      await shell.json(...command);
    expect(await stored()).toMatchObject([{ name: 'another name', ...later }, later]);
    const { usagePlans } = apiGateway;
    const inGateway = async () =>
      (await apiGateway.keys()).find(({ name }) => name.endsWith(key_id))?.id ?? '';
    const inFree = async () => (await Array.fromAsync(usagePlans.listMembers('free'))).map(({ id }) => id);
    await usagePlans.detach(await inGateway(), 'free');
    expect(await shell.json('reconcile', '--fix')).toMatchObject({ differences: [] });
    expect(await inFree()).not.toContain(await inGateway());
    await usagePlans.deleteKey(await inGateway());
    const { differences } = await shell.json('reconcile', '--fix');
    expect(differences).toMatchObject([{ kind: 'missing_in_gateway' }]);
    expect(await inFree()).toContain(await inGateway());
  });

  it('gets the scopes and the plan that an admin gives it, and is revoked', async () => {
    const { key_id, stored } = await laterKey();
    await shell.json('keys', 'assign', key_id, '--plan', 'professional');
    await shell.json('keys', 'scopes', key_id, '--set', 'users:read');
    const known = { scopes: ['users:read'], plan: 'professional' };
    expect(await stored()).toMatchObject([known, known]);
    const other = await laterKey();
    await shell.json('keys', 'revoke', other.key_id, '--yes');
    expect(await other.stored()).toMatchObject([{ status: 'revoked' }, { status: 'revoked' }]);
  });
});
