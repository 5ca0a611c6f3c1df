import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { ISSUE_GRACE_MS, reconcile } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { secretKey } from '#shared/table/keys.ts';
import { recordWrites, type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let issued: Awaited<ReturnType<TestAdministration['issued']>>;
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
  deployment.clock.advance(1);
});

const gatewayId = () => issued.key.gateway_key_id ?? '';

describe('reconcile', () => {
  it('writes an audit record of a repair in API Gateway', async () => {
    await deployment.gateway.setEnabled(gatewayId(), false);
    await reconcile(deployment.admin, { fix: true });
    const [newest] = await deployment.admin.audit.list(issued.seller.seller_id, { limit: 1 });
    expect(newest).toMatchObject({
      action: 'reconcile.repaired',
      key_id: issued.key.key_id,
      details: { difference: 'disabled_but_active' },
    });
  });

  it('writes the audit record of a repair in API Gateway before the repair', async () => {
    await deployment.gateway.setEnabled(gatewayId(), false);
    const steps = await deployment.stepsOf(() => reconcile(deployment.admin, { fix: true }));
    expect(steps[0]).toBe('repair: write the audit record');
  });
});

describe('the audit record of a repair in the table', () => {
  /** Runs reconcile and returns, of each write with an audit record, the action and the prefixes of all items in it. */
  const auditedWrites = async () => {
    const writes = recordWrites(deployment.table);
    await reconcile(deployment.admin, { fix: true });
    return writes().filter((keys) => keys.some((key) => key.startsWith('AUDIT#')));
  };

  it('is in the transaction that writes the secrets', async () => {
    const secret = secretKey(hashApiKey(issued.secret));
    await deployment.table.client.send(new DeleteCommand({ TableName: deployment.table.name, Key: secret }));
    expect(await auditedWrites()).toEqual([
      expect.arrayContaining([secret.pk, `AUDIT#${issued.seller.seller_id}`]),
    ]);
  });

  it('is in the transaction that withdraws an interrupted issue', async () => {
    await deployment.interruptedBefore('issue: activate', () =>
      issueKey(deployment.admin, {
        sellerId: issued.seller.seller_id,
        name: 'second',
        plan: 'free',
        scopes: ['users:read'],
      }),
    );
    deployment.clock.advance(ISSUE_GRACE_MS / 1000);
    expect(await auditedWrites()).toEqual([
      [
        expect.stringMatching(/^SELLER#/),
        expect.stringMatching(/^KEYID#/),
        expect.stringMatching(/^SECRET#/),
        `AUDIT#${issued.seller.seller_id}`,
      ],
    ]);
    const [newest] = await deployment.admin.audit.list(issued.seller.seller_id, { limit: 1 });
    expect(newest).toMatchObject({
      action: 'key.withdrawn',
      details: { difference: 'issue_interrupted' },
    });
  });

  it.each([
    [
      'a change of a key',
      'scopes: flush the authorizer cache',
      () => setScopes(deployment.admin, issued.key.key_id, ['users:write']),
    ],
    [
      'a suspension',
      'suspend: record the flush',
      () => setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended'),
    ],
  ] as const)('is in the transaction that removes the mark of %s that was not flushed', async (...row) => {
    const [, step, change] = row;
    await deployment.interruptedBefore(step, change);
    const { findings } = await reconcile(deployment.admin, { fix: false });
    expect(findings).toMatchObject([{ kind: 'not_flushed' }]);
    expect(await auditedWrites()).toEqual([
      [`SELLER#${issued.seller.seller_id}`, `AUDIT#${issued.seller.seller_id}`],
    ]);
  });
});
