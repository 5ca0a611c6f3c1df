import { readFileSync } from 'node:fs';
import { administration } from '#admin/administration.ts';
import { revokeKey } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { createSeller } from '#admin/operations/sellers.ts';
import { systemClock } from '#shared/clock.ts';
import { useApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { interceptedTable, type SentCommand } from '#test/table/intercepted-table.ts';
import { accessesOf } from '#test/table/table-accesses.ts';
import { useTable } from '#test/table/use-table.ts';

const page = readFileSync(new URL('../../docs/operators/deploy-from-github.md', import.meta.url), 'utf8');

interface Statement {
  readonly Action: string | readonly string[];
  readonly Condition?: { readonly 'ForAllValues:StringLike': Readonly<Record<string, readonly string[]>> };
}

const [, json = ''] = /<!-- Policy: the smoke test of prod -->\s+```json\n([\s\S]+?)```/.exec(page) ?? [];
const statements: readonly Statement[] = JSON.parse(json).Statement;

/** Each action on the table with a prefix of its keys: `GetItem SELLER#`. */
const granted = statements.flatMap(({ Action, Condition }) =>
  [Action]
    .flat()
    .filter((action) => action.startsWith('dynamodb:'))
    .flatMap((action) =>
      (Condition?.['ForAllValues:StringLike']['dynamodb:LeadingKeys'] ?? ['*']).map(
        (pattern) => `${action.replace('dynamodb:', '')} ${pattern.replace(/\*$/, '')}`,
      ),
    ),
);

describe('the policy of docs/operators/deploy-from-github.md for the smoke test of prod', () => {
  const table = useTable();
  const apiGateway = useApiGateway();

  test('grants the requests of the table that the smoke test makes without a person, and no others', async () => {
    const commands: SentCommand[] = [];
    const admin = administration({
      table: interceptedTable(table, (command, send) => {
        commands.push(command);
        return send();
      }),
      usagePlans: apiGateway().usagePlans,
      authorizerCache: apiGateway().authorizerCache,
      registryIsSandbox: false,
      keyPrefix: 'blk_live_',
      stage: 'prod',
      actor: 'arn:aws:sts::123456789012:assumed-role/prod/github',
      clock: systemClock,
    });
    const { seller_id: sellerId } = await createSeller(admin, 'Smoke test');
    await admin.sellers.list();
    const request = { sellerId, name: 'smoke test shop', plan: 'free', scopes: ['users:read'] } as const;
    const { key } = await issueKey(admin, request);
    await revokeKey(admin, key.key_id);
    expect(granted.toSorted()).toEqual(accessesOf(commands));
  });

  test('names no other service than those of the keys, and of the topic that the workflow notifies', () => {
    const services = statements.flatMap(({ Action }) =>
      [Action].flat().map((action) => action.split(':')[0]),
    );
    expect([...new Set(services)].sort()).toEqual(['apigateway', 'cloudformation', 'dynamodb', 'sns']);
  });
});
