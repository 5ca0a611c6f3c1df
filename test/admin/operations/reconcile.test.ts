import { DeleteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { revokeKey, rotateKey, setExpiry } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { findDifferences, ISSUE_GRACE_MS } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretKey } from '#shared/table/keys.ts';
import { reconciled } from '#test/admin/operations/reconciled.ts';
import { recordWrites, type TestAdministration, useAdministration } from './use-administration.ts';

type Issued = Awaited<ReturnType<TestAdministration['issued']>>;

const newAdministration = useAdministration();
let deployment: TestAdministration;
let issued: Issued;
beforeEach(async () => {
  deployment = await newAdministration();
  issued = await deployment.issued();
  gatewayId = await deployment.gatewayIdOf(issued.key.key_id);
  deployment.clock.advance(1);
});

const kindsFound = async (fix = false) =>
  (await (fix ? reconciled : findDifferences)(deployment.admin)).differences.map(({ kind }) => kind);

let gatewayId: string;

/** Kinds of damage: how it is caused, the kinds of difference that reconcile finds, and whether the key is valid after the repair. */
const DAMAGES: Record<string, readonly [() => Promise<unknown>, readonly string[], boolean]> = {
  'the key is gone from API Gateway': [
    () => deployment.gateway.deleteKey(gatewayId),
    ['missing_in_gateway'],
    true,
  ],
  'the key is in no plan': [() => deployment.gateway.detach(gatewayId, 'free'), ['plan_differs'], true],
  'the key is in another plan': [
    async () => {
      await deployment.gateway.detach(gatewayId, 'free');
      await deployment.gateway.attach(gatewayId, 'professional');
    },
    ['plan_differs'],
    true,
  ],
  'the key is disabled': [() => deployment.gateway.setEnabled(gatewayId, false), ['enabled_differs'], true],
  'the key of a suspended seller is enabled': [
    async () => {
      await setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended');
      await deployment.gateway.setEnabled(gatewayId, true);
    },
    ['enabled_differs'],
    false,
  ],
  'the key was created again with another usage id': [
    async () => {
      await deployment.gateway.deleteKey(gatewayId);
      const other = await deployment.gateway.createKey({
        name: deployment.admin.gatewayKeyName(issued.key.key_id),
        value: 'x'.repeat(40),
        enabled: true,
      });
      await deployment.gateway.attach(other.id, 'free');
    },
    ['missing_in_gateway'],
    true,
  ],
  'the key is revoked, but still in API Gateway': [
    async () => {
      await revokeKey(deployment.admin, issued.key.key_id);
      const { name, value } = {
        name: deployment.admin.gatewayKeyName(issued.key.key_id),
        value: issued.key.usage_id,
      };
      await deployment.gateway.attach(
        (await deployment.gateway.createKey({ name, value, enabled: true })).id,
        'free',
      );
    },
    ['revoked_in_gateway'],
    false,
  ],
  'API Gateway has a key of this stage that is missing in the table': [
    () =>
      deployment.gateway.createKey({
        name: 'buyer-linking-test-key_none',
        value: 'y'.repeat(40),
        enabled: true,
      }),
    ['unknown_in_gateway'],
    true,
  ],
  'the item of a secret is missing': [
    () =>
      deployment.table.client.send(
        new DeleteCommand({ TableName: deployment.table.name, Key: keySecretKey(hashApiKey(issued.secret)) }),
      ),
    ['secret_differs'],
    true,
  ],
  'the item of one of two secrets is missing': [
    async () => {
      await rotateKey(deployment.admin, issued.key.key_id, 3600);
      await deployment.table.client.send(
        new DeleteCommand({ TableName: deployment.table.name, Key: keySecretKey(hashApiKey(issued.secret)) }),
      );
    },
    ['secret_differs'],
    true,
  ],
  'the item of a secret has more scopes than its key': [
    () =>
      deployment.table.client.send(
        new UpdateCommand({
          TableName: deployment.table.name,
          Key: keySecretKey(hashApiKey(issued.secret)),
          UpdateExpression: 'SET scopes = :all',
          ExpressionAttributeValues: { ':all': ['users:read', 'users:write'] },
        }),
      ),
    ['secret_differs'],
    true,
  ],
};

describe('reconcile', () => {
  it.each(Object.entries(DAMAGES))(
    'finds the difference and repairs it, with an audit record in the first write, if %s',
    async (_name, damage) => {
      const [harm, kinds, worksAfter] = damage;
      await harm();
      // The decision on the damaged key is cached.
      await deployment.authorize(issued.secret);
      expect(await kindsFound()).toEqual(kinds);
      expect(await kindsFound()).toEqual(kinds);
      const writes = await deployment.writesOf(async () => expect(await kindsFound(true)).toEqual(kinds));
      expect(writes.filter((write) => write.includes('AUDIT'))).toEqual(writes.slice(0, 1));
      expect(await kindsFound()).toEqual([]);
      expect(await deployment.works(issued.secret)).toBe(worksAfter);
      const names = (await deployment.gatewayKeys()).map(({ name }) => name);
      expect(names).toEqual([...new Set(names)]);
      expect((await deployment.authorize(issued.secret))?.scopes ?? ['users:read']).toEqual(['users:read']);
    },
  );

  it('reports keys that are being issued, and withdraws each after two minutes', async () => {
    const request = {
      sellerId: issued.seller.seller_id,
      name: 'second',
      plan: 'free',
      scopes: ['users:read'],
    } as const;
    const begin = () =>
      deployment.interruptedBefore('write KEY SECRET AUDIT', () => issueKey(deployment.admin, request));
    await begin();
    expect(await reconciled(deployment.admin)).toMatchObject({ differences: [], beingIssued: 1 });
    deployment.clock.advance(1);
    await begin();
    deployment.clock.advance(ISSUE_GRACE_MS / 1000 - 1);
    const withdrawn = [{ kind: 'issue_interrupted' }];
    expect(await reconciled(deployment.admin)).toMatchObject({
      differences: withdrawn,
      beingIssued: 1,
    });
    deployment.clock.advance(1);
    expect(await reconciled(deployment.admin)).toMatchObject({
      differences: withdrawn,
      beingIssued: 0,
    });
    expect((await deployment.gatewayKeys()).map(({ id }) => id)).toEqual([gatewayId]);
  });

  it('finds no difference after a seller with a revoked key was suspended', async () => {
    await revokeKey(deployment.admin, issued.key.key_id);
    await setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended');
    expect(await kindsFound()).toEqual([]);
  });

  it('finds no difference after a key was created again by hand with its name and usage id', async () => {
    const { key_id, usage_id: value } = issued.key;
    await deployment.gateway.deleteKey(gatewayId);
    const name = deployment.admin.gatewayKeyName(key_id);
    const { id } = await deployment.gateway.createKey({ name, value, enabled: true });
    await deployment.gateway.attach(id, 'free');
    expect(await kindsFound()).toEqual([]);
  });

  it('ignores keys of other stages and other APIs, however similar their names', async () => {
    const foreign = [
      'buyer-linking-prod-key_1',
      'buyer-linking-test-eu-key_1',
      'buyer-linking-test-keys',
      'something else',
    ];
    for (const [index, name] of foreign.entries()) {
      await deployment.gateway.createKey({ name, value: `${'p'.repeat(40)}${index}`, enabled: true });
    }
    expect(await kindsFound(true)).toEqual([]);
    expect(await deployment.gatewayKeys()).toHaveLength(1 + foreign.length);
  });
});

describe('the audit record of a repair', () => {
  it('names the key and the difference', async () => {
    await deployment.gateway.setEnabled(gatewayId, false);
    await kindsFound(true);
    const [newest] = await deployment.admin.audit.list(issued.seller.seller_id, { limit: 1 });
    expect(newest).toMatchObject({
      action: 'reconcile.repaired',
      key_id: issued.key.key_id,
      details: { difference: 'enabled_differs' },
    });
  });

  /** Runs reconcile and returns, of each write with an audit record, the action and the prefixes of all items in it. */
  const auditedWrites = async () => {
    const writes = recordWrites(deployment.table);
    await reconciled(deployment.admin);
    return writes().filter((keys) => keys.some((key) => key.startsWith('AUDIT#')));
  };

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
    await deployment.interruptedBefore('flush', () =>
      setExpiry(deployment.admin, issued.key.key_id, Math.floor(deployment.clock() / 1000) + 60),
    );
    const { differences } = await findDifferences(deployment.admin);
    expect(differences).toMatchObject([{ kind: 'not_flushed' }]);
    const writes = await deployment.writesOf(() => reconciled(deployment.admin));
    expect([writes[0], ...writes.slice(-2)]).toEqual(['write SECRET AUDIT', 'flush', 'write KEY']);
  });

  it('is in the transaction that removes the mark of a suspension that was not flushed', async () => {
    await deployment.interruptedBefore('write SELLER', () =>
      setSellerStatus(deployment.admin, issued.seller.seller_id, 'suspended'),
    );
    const { differences } = await findDifferences(deployment.admin);
    expect(differences).toMatchObject([{ kind: 'enabled_differs' }, { kind: 'not_flushed' }]);
    const { pk } = keySecretKey(hashApiKey(issued.secret));
    expect(await auditedWrites()).toEqual([
      [pk, `AUDIT#${issued.seller.seller_id}`],
      [`SELLER#${issued.seller.seller_id}`, `AUDIT#${issued.seller.seller_id}`],
    ]);
  });
});
