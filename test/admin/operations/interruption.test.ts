import { assignPlan, revokeKey, rotateKey, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { findDifferences } from '#admin/operations/reconcile.ts';
import { setSellerStatus } from '#admin/operations/sellers.ts';
import { reconciled } from '#test/admin/operations/reconciled.ts';
import { isFullRun } from '#test/full-run.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

interface Scene {
  readonly sellerId: string;
  readonly keyId: string;
  /** The secret that is valid before the operation. */
  readonly secret: string;
}

interface Operation {
  readonly writes: readonly string[];
  run(deployment: TestAdministration, scene: Scene): Promise<unknown>;
  /** Prepares the state in which the operation starts. */
  prepare?(deployment: TestAdministration, scene: Scene): Promise<unknown>;
  /** The allowed states after reconcile: that before the operation, or that after it. Missing: another operation makes the same writes. */
  outcomes?: readonly Readonly<Record<string, unknown>>[];
}

/** The write of a key with its secrets, and those that follow it if a secret ends soon. */
const END = ['write KEY SECRET AUDIT', 'flush', 'write KEY'];

const OPERATIONS: Record<string, Operation> = {
  issue: {
    writes: ['write KEY KEYID', 'createKey', 'detach professional', 'attach free', 'write KEY SECRET AUDIT'],
    run: ({ admin }, { sellerId }) =>
      issueKey(admin, { sellerId, name: 'second', plan: 'free', scopes: ['users:read'] }),
    outcomes: [{ plan: 'free', works: true, keys: 1 }],
  },
  'assign a plan': {
    writes: ['write KEY SECRET AUDIT', 'detach free', 'attach professional'],
    run: ({ admin }, { keyId }) => assignPlan(admin, keyId, 'professional'),
    outcomes: [{ plan: 'free' }, { plan: 'professional' }],
  },
  'set the scopes': {
    writes: ['write KEY SECRET AUDIT'],
    run: ({ admin }, { keyId }) => setScopes(admin, keyId, ['users:write']),
    outcomes: [
      { scopes: ['users:read'], works: true },
      { scopes: ['users:write'], works: true },
    ],
  },
  'set the limits': {
    writes: ['write KEY SECRET AUDIT'],
    run: ({ admin }, { keyId }) => setKeyLimits(admin, keyId, { set: { 'sms-per-hour': 5 }, unset: [] }),
  },
  'set the expiry': {
    writes: END,
    run: ({ admin, clock }, { keyId }) => setExpiry(admin, keyId, Math.floor(clock() / 1000) + 60),
  },
  'rotate with a grace of an hour': {
    writes: ['write KEY SECRET AUDIT'],
    run: ({ admin }, { keyId }) => rotateKey(admin, keyId, 3600),
    outcomes: [
      { works: true, secrets: 1 },
      { works: true, secrets: 2 },
    ],
  },
  'rotate with a grace of a minute': {
    writes: END,
    run: ({ admin }, { keyId }) => rotateKey(admin, keyId, 60),
    outcomes: [
      { works: true, secrets: 1 },
      // The clock is three minutes later when reconcile runs.
      { works: false, secrets: 2 },
    ],
  },
  revoke: {
    writes: [
      'write KEY AUDIT',
      'write SECRET',
      'flush',
      'write KEY',
      'detach free',
      'detach professional',
      'deleteKey',
    ],
    run: ({ admin }, { keyId }) => revokeKey(admin, keyId),
    outcomes: [
      { status: 'active', works: true },
      { status: 'revoked', works: false },
    ],
  },
  'suspend a seller': {
    writes: [
      'write SELLER AUDIT',
      'write SECRET',
      'flush',
      'write SELLER',
      'detach professional',
      'attach free',
      'setEnabled false',
    ],
    run: ({ admin }, { sellerId }) => setSellerStatus(admin, sellerId, 'suspended'),
    outcomes: [
      { sellerStatus: 'active', works: true },
      { sellerStatus: 'suspended', works: false },
    ],
  },
  'resume a seller': {
    writes: ['write SELLER AUDIT', 'write SECRET', 'detach professional', 'attach free', 'setEnabled true'],
    prepare: ({ admin }, { sellerId }) => setSellerStatus(admin, sellerId, 'suspended'),
    run: ({ admin }, { sellerId }) => setSellerStatus(admin, sellerId, 'active'),
    outcomes: [
      { sellerStatus: 'suspended', works: false },
      { sellerStatus: 'active', works: true },
    ],
  },
};

const newAdministration = useAdministration();

const setUp = async (operation: Operation): Promise<{ deployment: TestAdministration; scene: Scene }> => {
  const deployment = await newAdministration();
  const { seller, key, secret } = await deployment.issued();
  const scene = { sellerId: seller.seller_id, keyId: key.key_id, secret };
  await operation.prepare?.(deployment, scene);
  // The authorizer's decision is cached before the operation.
  await deployment.works(secret);
  deployment.clock.advance(1);
  return { deployment, scene };
};

const stateOf = async ({ admin, works }: TestAdministration, { sellerId, keyId, secret }: Scene) => {
  const keys = await admin.keys.listOf(sellerId);
  const key = keys.find(({ key_id }) => key_id === keyId);
  const seller = await admin.sellers.find(sellerId);
  return {
    ...key,
    secrets: key?.secrets.length,
    keys: keys.length,
    sellerStatus: seller?.status,
    works: await works(secret),
  };
};

it.each(Object.entries(OPERATIONS))(
  '%s makes exactly the listed writes, and leaves no difference when it is not interrupted',
  async (_name, operation) => {
    const { deployment, scene } = await setUp(operation);
    expect(await deployment.writesOf(() => operation.run(deployment, scene))).toEqual(operation.writes);
    deployment.clock.advance(180);
    expect((await findDifferences(deployment.admin)).differences).toEqual([]);
  },
);

/** Each operation with outcomes, before each of its writes. */
const INTERRUPTIONS = Object.entries(OPERATIONS).flatMap(([name, { outcomes, ...operation }]) =>
  outcomes === undefined
    ? []
    : operation.writes.map((write, index) => ({ name, write, index, operation, outcomes })),
);

/** The first and the last write of each operation, and each other write once. The full run takes every write of every operation. */
const SOME_INTERRUPTIONS = INTERRUPTIONS.filter(
  ({ write, index, operation }, place) =>
    index === 0 ||
    index === operation.writes.length - 1 ||
    INTERRUPTIONS.findIndex((other) => other.write === write) === place,
);

it.each(isFullRun ? INTERRUPTIONS : SOME_INTERRUPTIONS)(
  '$name leaves the old or the new state after reconcile when it is interrupted before "$write"',
  async ({ index, operation, outcomes }) => {
    const { deployment, scene } = await setUp(operation);
    await deployment.interruptedBefore(index, () => operation.run(deployment, scene));
    // Every key in API Gateway is in the table.
    const shown = (await deployment.admin.keys.listOf(scene.sellerId)).map(({ usage_id }) => usage_id);
    expect(shown).toEqual(expect.arrayContaining((await deployment.gatewayKeys()).map(({ value }) => value)));

    deployment.clock.advance(180);
    await reconciled(deployment.admin);
    expect((await findDifferences(deployment.admin)).differences).toEqual([]);
    const state = await stateOf(deployment, scene);
    expect(outcomes).toContainEqual(
      Object.fromEntries(
        Object.keys(outcomes[0] ?? {}).map((name) => [name, state[name as keyof typeof state]]),
      ),
    );
  },
);
