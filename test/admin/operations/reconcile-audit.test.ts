import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { ISSUE_GRACE_MS, reconcile } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { secretKey } from '#shared/table/keys.ts';
import { recordWrites, type TestAdministration, useAdministration } from './use-administration.ts';

const newAdministration = useAdministration();
let deployment: TestAdministration;
let issued: Awaited<ReturnType<TestAdministration['issued']>>;
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
  gatewayId = await deployment.gatewayIdOf(issued.key.key_id);
  deployment.clock.advance(1);
});

let gatewayId: string;

describe('reconcile', () => {
  it('writes an audit record of a repair in API Gateway', async () => {
    await deployment.gateway.setEnabled(gatewayId, false);
    await reconcile(deployment.admin, { fix: true });
    const [newest] = await deployment.admin.audit.list(issued.seller.seller_id, { limit: 1 });
    expect(newest).toMatchObject({
      action: 'reconcile.repaired',
      key_id: issued.key.key_id,
      details: { difference: 'enabled_differs' },
    });
  });

  it('writes the audit record of a repair in API Gateway before the repair', async () => {
    await deployment.gateway.setEnabled(gatewayId, false);
    const writes = await deployment.writesOf(() => reconcile(deployment.admin, { fix: true }));
    expect(writes[0]).toBe('write SECRET AUDIT');
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
    await deployment.interruptedBefore('write KEY SECRET AUDIT', () =>
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

  it('is in the first write after a change of a key that was not flushed', async () => {
    await deployment.interruptedBefore('flushAuthorizerCache', () =>
      setScopes(deployment.admin, issued.key.key_id, ['users:write']),
    );
    const { findings } = await reconcile(deployment.admin, { fix: false });
    expect(findings).toMatchObject([{ kind: 'not_flushed' }]);
    const writes = await deployment.writesOf(() => reconcile(deployment.admin, { fix: true }));
    expect([writes[0], ...writes.slice(-2)]).toEqual([
      'write SECRET AUDIT',
      'flushAuthorizerCache',
      'write KEY',
    ]);
  });

  it('is in the transaction that removes the mark of a suspension that was not flushed', async () => {
    await deployment.interruptedBefore('write SELLER', () =>
      setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended'),
    );
    const { findings } = await reconcile(deployment.admin, { fix: false });
    expect(findings).toMatchObject([{ kind: 'enabled_differs' }, { kind: 'not_flushed' }]);
    const { pk } = secretKey(hashApiKey(issued.secret));
    expect(await auditedWrites()).toEqual([
      [pk, `AUDIT#${issued.seller.seller_id}`],
      [`SELLER#${issued.seller.seller_id}`, `AUDIT#${issued.seller.seller_id}`],
    ]);
  });
});
