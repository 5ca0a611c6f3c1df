import { assignPlan, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { reconcile } from '#admin/operations/reconcile.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

interface Scene {
  readonly sellerId: string;
  readonly keyId: string;
  /** The secret that is valid before the operation. */
  readonly secret: string;
}

interface Operation {
  readonly steps: readonly string[];
  run(deployment: TestAdministration, scene: Scene): Promise<unknown>;
  /** Prepares the state in which the operation starts. */
  prepare?(deployment: TestAdministration, scene: Scene): Promise<unknown>;
  /** The allowed states after reconcile: that before the operation, or that after it. */
  outcomes: readonly Readonly<Record<string, unknown>>[];
}

const PLAN_MOVE = ['leave the plan free', 'enter the plan professional'];
const flushed = (name: string) => [`${name}: flush the authorizer cache`, `${name}: record the flush`];

const OPERATIONS: Record<string, Operation> = {
  issue: {
    steps: ['record as pending', 'register with API Gateway', 'attach to the plan', 'activate'].map(
      (s) => `issue: ${s}`,
    ),
    run: ({ admin }, { sellerId }) =>
      issueKey(admin, { sellerId, name: 'second', plan: 'free', scopes: ['users:read'] }),
    outcomes: [{ plan: 'free', works: true, keys: 1 }],
  },
  'assign a plan': {
    steps: ['assign: write the plan', ...PLAN_MOVE.map((s) => `assign: ${s}`), ...flushed('assign')],
    run: ({ admin }, { keyId }) => assignPlan(admin, keyId, 'professional'),
    outcomes: [
      { plan: 'free', works: true },
      { plan: 'professional', works: true },
    ],
  },
  'set the scopes': {
    steps: ['scopes: write the scopes', ...flushed('scopes')],
    run: ({ admin }, { keyId }) => setScopes(admin, keyId, ['users:write']),
    outcomes: [
      { scopes: ['users:read'], authorized: ['users:read'], works: true },
      { scopes: ['users:write'], authorized: ['users:write'], works: true },
    ],
  },
  'set the limits': {
    steps: ['limits: write the limits', ...flushed('limits')],
    run: ({ admin }, { keyId }) => setKeyLimits(admin, keyId, { set: { 'sms-per-hour': 5 }, unset: [] }),
    outcomes: [
      { limits: undefined, authorizedLimits: undefined, works: true },
      { limits: { 'sms-per-hour': 5 }, authorizedLimits: { 'sms-per-hour': 5 }, works: true },
    ],
  },
  'set the expiry': {
    steps: ['expire: write the expiry', ...flushed('expire')],
    run: ({ admin, clock }, { keyId }) => setExpiry(admin, keyId, Math.floor(clock() / 1000) + 60),
    outcomes: [
      { works: true },
      // The clock is three minutes later when reconcile runs.
      { works: false },
    ],
  },
  'rotate with a grace': {
    steps: ['rotate: add the new secret, end the old', ...flushed('rotate')],
    run: ({ admin }, { keyId }) => rotateKey(admin, keyId, 3600),
    outcomes: [
      { works: true, secrets: 1 },
      { works: true, secrets: 2 },
    ],
  },
  revoke: {
    steps: [
      'revoke: mark the key',
      'revoke: make its secrets invalid',
      ...flushed('revoke'),
      'revoke: leave the plan free',
      'revoke: leave the plan professional',
      'revoke: delete the key from API Gateway',
    ],
    run: ({ admin }, { keyId }) => revokeKey(admin, keyId),
    outcomes: [
      { status: 'active', works: true },
      { status: 'revoked', works: false },
    ],
  },
  'suspend a seller': {
    steps: [
      'suspend: mark the seller',
      'suspend: write the secrets of a key',
      'suspend: flush the authorizer cache',
      'suspend: enable or disable a key in API Gateway',
      'suspend: record the flush',
    ],
    run: ({ admin }, { sellerId }) => setSellerStatus(admin, sellerId, 'suspended'),
    outcomes: [
      { sellerStatus: 'active', works: true },
      { sellerStatus: 'suspended', works: false },
    ],
  },
  'resume a seller': {
    steps: [
      'resume: mark the seller',
      'resume: write the secrets of a key',
      'resume: flush the authorizer cache',
      'resume: enable or disable a key in API Gateway',
      'resume: record the flush',
    ],
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

const stateOf = async (
  { admin, works, authorize }: TestAdministration,
  { sellerId, keyId, secret }: Scene,
) => {
  const keys = await admin.keys.listOf(sellerId);
  const key = keys.find(({ key_id }) => key_id === keyId);
  const seller = await admin.sellers.find(sellerId);
  return {
    ...key,
    secrets: key?.secrets.length,
    keys: keys.length,
    sellerStatus: seller?.status,
    works: await works(secret),
    limits: key?.limits,
    authorized: (await authorize(secret))?.scopes,
    authorizedLimits: (await authorize(secret))?.limits,
  };
};

describe.each(Object.entries(OPERATIONS))('%s', (_name, operation) => {
  it('runs exactly the listed steps', async () => {
    const { deployment, scene } = await setUp(operation);
    expect(await deployment.stepsOf(() => operation.run(deployment, scene))).toEqual(operation.steps);
  });

  it('leaves no difference when it is not interrupted', async () => {
    const { deployment, scene } = await setUp(operation);
    await operation.run(deployment, scene);
    deployment.clock.advance(180);
    expect((await reconcile(deployment.admin, { fix: false })).findings).toEqual([]);
  });

  it.each(operation.steps.map((step, index) => [step, index] as const))(
    'leaves the old or the new state after reconcile when it is interrupted before "%s"',
    async (_step, index) => {
      const { deployment, scene } = await setUp(operation);
      await deployment.interruptedBefore(index, () => operation.run(deployment, scene));
      // Every key in API Gateway is in the table.
      const shown = (await deployment.admin.keys.listOf(scene.sellerId)).map(({ usage_id }) => usage_id);
      expect(shown).toEqual(
        expect.arrayContaining((await deployment.gatewayKeys()).map(({ value }) => value)),
      );

      deployment.clock.advance(180);
      await reconcile(deployment.admin, { fix: true });
      expect((await reconcile(deployment.admin, { fix: false })).findings).toEqual([]);
      const state = await stateOf(deployment, scene);
      expect(operation.outcomes).toContainEqual(
        Object.fromEntries(
          Object.keys(operation.outcomes[0] ?? {}).map((name) => [name, state[name as keyof typeof state]]),
        ),
      );
    },
  );
});
