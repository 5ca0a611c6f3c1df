import { assignPlan, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { reconcile } from '#admin/operations/reconcile.ts';
import { revokeKey } from '#admin/operations/revoke-key.ts';
import { rotateKey } from '#admin/operations/rotate-key.ts';
import { setSellerStatus } from '#admin/operations/set-seller-status.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { administrationBench } from './bench.ts';

type Bench = Awaited<ReturnType<typeof administrationBench>>;

interface Scene {
  readonly sellerId: string;
  readonly keyId: string;
  /** The secret that worked before the operation. */
  readonly secret: string;
}

interface Operation {
  readonly steps: readonly string[];
  run(bench: Bench, scene: Scene): Promise<unknown>;
  /** Brings the scene to where the operation begins. */
  prepare?(bench: Bench, scene: Scene): Promise<unknown>;
  /** What may be said of the key once reconcile is done: the state before the operation, or after it. */
  outcomes: readonly Readonly<Record<string, unknown>>[];
}

const PLAN_MOVE = ['leave the plan free', 'enter the plan professional'];
const flushed = (name: string) => [`${name}: flush the authorizer cache`, `${name}: note the flush`];

const OPERATIONS: Record<string, Operation> = {
  issue: {
    steps: ['record as pending', 'register with the gateway', 'attach to the plan', 'activate'].map(
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
      { scopes: ['users:read'], judged: ['users:read'], works: true },
      { scopes: ['users:write'], judged: ['users:write'], works: true },
    ],
  },
  'set the expiry': {
    steps: ['expire: write the end', ...flushed('expire')],
    run: ({ admin, clock }, { keyId }) => setExpiry(admin, keyId, Math.floor(clock() / 1000) + 60),
    outcomes: [
      { works: true },
      // Three minutes have passed by the time reconcile looks.
      { works: false },
    ],
  },
  'rotate with a grace': {
    steps: ['rotate: start the new secret, end the old', ...flushed('rotate')],
    run: ({ admin }, { keyId }) => rotateKey(admin, keyId, 3600),
    outcomes: [
      { works: true, secrets: 1 },
      { works: true, secrets: 2 },
    ],
  },
  revoke: {
    steps: [
      'revoke: refuse its secrets',
      ...flushed('revoke'),
      'revoke: leave the plan free',
      'revoke: leave the plan professional',
      "revoke: delete the gateway's key",
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
      'suspend: switch a key in the gateway',
      'suspend: note the flush',
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
      'resume: switch a key in the gateway',
      'resume: note the flush',
    ],
    prepare: ({ admin }, { sellerId }) => setSellerStatus(admin, sellerId, 'suspended'),
    run: ({ admin }, { sellerId }) => setSellerStatus(admin, sellerId, 'active'),
    outcomes: [
      { sellerStatus: 'suspended', works: false },
      { sellerStatus: 'active', works: true },
    ],
  },
};

let table: EmbeddedTable;
beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

const setUp = async (operation: Operation): Promise<{ bench: Bench; scene: Scene }> => {
  const bench = await administrationBench(table);
  const { seller, key, secret } = await bench.issued();
  const scene = { sellerId: seller.seller_id, keyId: key.key_id, secret };
  await operation.prepare?.(bench, scene);
  // The gateway remembers the key as it is now.
  await bench.works(secret);
  bench.clock.advance(1);
  return { bench, scene };
};

const lookAt = async ({ admin, works, judge }: Bench, { sellerId, keyId, secret }: Scene) => {
  const keys = await admin.keys.listOf(sellerId);
  const key = keys.find(({ key_id }) => key_id === keyId);
  const seller = await admin.sellers.find(sellerId);
  return {
    ...key,
    secrets: key?.secrets.length,
    keys: keys.length,
    sellerStatus: seller?.status,
    works: await works(secret),
    judged: (await judge(secret))?.scopes,
  };
};

describe.each(Object.entries(OPERATIONS))('%s', (_name, operation) => {
  it('takes exactly these steps', async () => {
    const { bench, scene } = await setUp(operation);
    expect(await bench.stepsOf(() => operation.run(bench, scene))).toEqual(operation.steps);
  });

  it('leaves nothing for reconcile to find when it runs to its end', async () => {
    const { bench, scene } = await setUp(operation);
    await operation.run(bench, scene);
    bench.clock.advance(180);
    expect((await reconcile(bench.admin, { fix: false })).findings).toEqual([]);
  });

  it.each(operation.steps.map((step, index) => [step, index] as const))(
    'killed before "%s": reconcile brings it to the old state or the new, and then finds nothing',
    async (_step, index) => {
      const { bench, scene } = await setUp(operation);
      await bench.killedBefore(index, () => operation.run(bench, scene));
      // Whatever API Gateway would let in is a key that the table shows.
      const shown = (await bench.admin.keys.listOf(scene.sellerId)).map(({ usage_id }) => usage_id);
      expect(shown).toEqual(
        expect.arrayContaining([...bench.gateway.held.values()].map(({ value }) => value)),
      );

      bench.clock.advance(180);
      await reconcile(bench.admin, { fix: true });
      expect((await reconcile(bench.admin, { fix: false })).findings).toEqual([]);
      const state = await lookAt(bench, scene);
      expect(operation.outcomes).toContainEqual(
        Object.fromEntries(
          Object.keys(operation.outcomes[0] ?? {}).map((name) => [name, state[name as keyof typeof state]]),
        ),
      );
    },
  );
});
