import { PutCommand } from '@aws-sdk/lib-dynamodb';
import fc from 'fast-check';
import { AdminError } from '#admin/admin-error.ts';
import { eraseBuyer, unlockBuyer } from '#admin/operations/buyers.ts';
import { assignPlan, revokeKey, rotateKey, setExpiry, setScopes } from '#admin/operations/change-key.ts';
import { issueKey } from '#admin/operations/issue-key.ts';
import { setKeyLimits } from '#admin/operations/key-limits.ts';
import { findDifferences } from '#admin/operations/reconcile.ts';
import { createSeller, setSellerStatus, setSellerTemplates } from '#admin/operations/sellers.ts';
import { removeUser } from '#admin/operations/users.ts';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { codeKey } from '#shared/table/keys.ts';
import { runsOf } from '#test/full-run.ts';
import { linkOf, registerBuyer, withExternalId } from '#test/shared/users/linking.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { itemsIn } from '#test/table/items-in.ts';
import { faultsIn, faultsOfPages } from './invariants.ts';
import { type TestAdministration, useAdministration } from './use-administration.ts';

/** An operation by its name, and a number that chooses the seller, the key, the user or the phone. */
type Operation = readonly [name: keyof typeof OPERATIONS, choice: number];

/** What the operations of one history have made so far. */
interface World {
  readonly deployment: TestAdministration;
  readonly sellers: string[];
  readonly keys: string[];
  readonly users: (readonly [sellerId: string, userId: string])[];
}

const PHONES = 4;

/** None, or one of two: users of a seller take each other's. */
const externalIdOf = (choice: number): string | undefined => [undefined, 'E-1', 'E-2'][choice % 3];

const hashOf = (choice: number): string => `phone-of-${choice % PHONES}`;

const chosen = <T>(list: readonly T[], choice: number): T | undefined => list[choice % list.length];

type Run = (world: World, choice: number) => Promise<unknown>;

/** Returns an operation on one of the keys. It does nothing if there is none. */
const onKey =
  (run: (admin: TestAdministration['admin'], keyId: string, choice: number) => Promise<unknown>): Run =>
  async ({ deployment, keys }, choice) => {
    const keyId = chosen(keys, choice);
    if (keyId !== undefined) await run(deployment.admin, keyId, choice);
  };

/** Returns an operation on one of the sellers. It does nothing if there is none. */
const onSeller =
  (run: (world: World, sellerId: string, choice: number) => Promise<unknown>): Run =>
  async (world, choice) => {
    const sellerId = chosen(world.sellers, choice);
    if (sellerId !== undefined) await run(world, sellerId, choice);
  };

/** Everything that admins and callers do to the table, by name. */
const OPERATIONS = {
  createSeller: async ({ deployment: { admin }, sellers }) => {
    sellers.push((await createSeller(admin, 'Kaveh Books')).seller_id);
  },
  issue: onSeller(async ({ deployment: { admin }, keys }, sellerId) => {
    const scopes = ['users:read', 'users:write'] as const;
    keys.push((await issueKey(admin, { sellerId, name: 'server', plan: 'free', scopes })).key.key_id);
  }),
  suspend: onSeller(({ deployment: { admin } }, sellerId) => setSellerStatus(admin, sellerId, 'suspended')),
  templates: onSeller(({ deployment: { admin } }, sellerId, choice) => {
    const locale = choice % 2 === 0 ? 'fa' : 'en';
    return setSellerTemplates(admin, sellerId, {
      locale,
      set: { 'sms-ir': choice + 1 },
      remove: ['kavenegar'],
    });
  }),
  resume: onSeller(({ deployment: { admin } }, sellerId) => setSellerStatus(admin, sellerId, 'active')),
  link: onSeller(async ({ deployment: { clock, table }, users }, sellerId, choice) => {
    await registerBuyer(table);
    const link = linkOf(sellerId, String((choice >> 3) % PHONES));
    const linkedAt = new Date(clock()).toISOString();
    const newLink = withExternalId({ ...link, linkedAt }, externalIdOf(choice >> 5));
    const result = await userStore(table).link(newLink);
    if (result.written) users.push([sellerId, result.value.id]);
  }),
  code: onSeller(({ deployment: { table } }, sellerId, choice) => {
    const Item = {
      ...codeKey(hashOf(choice >> 3), sellerId),
      version: choice,
      sends: [choice],
      failures: choice % 9,
    };
    return table.client.send(new PutCommand({ TableName: table.name, Item }));
  }),
  correct: async ({ deployment: { clock, table }, users }, choice) => {
    const user = chosen(users, choice >> 3);
    if (user === undefined) return;
    const update = { display_name: `name ${choice % 3}`, external_id: externalIdOf(choice) ?? null };
    const updatedAt = new Date(clock()).toISOString();
    await userStore(table).updateUser(...user, { update, updatedAt });
  },
  removeUser: async ({ deployment: { admin }, users }, choice) => {
    const user = chosen(users, choice);
    if (user !== undefined)
      await removeUser(admin, { sellerId: user[0], userId: user[1], reason: 'operator' });
  },
  assign: onKey((admin, keyId) => assignPlan(admin, keyId, 'professional')),
  scopes: onKey((admin, keyId) => setScopes(admin, keyId, ['users:read'])),
  expire: onKey((admin, keyId) => setExpiry(admin, keyId, Math.floor(admin.clock() / 1000) + 90 * 86_400)),
  limits: onKey((admin, keyId, choice) =>
    setKeyLimits(admin, keyId, { set: { 'sms-per-hour': choice }, unset: [] }),
  ),
  rotate: onKey((admin, keyId, choice) => rotateKey(admin, keyId, (choice % 2) * 3600)),
  revoke: onKey((admin, keyId) => revokeKey(admin, keyId)),
  register: ({ deployment: { admin, table } }, choice) =>
    adminBuyerStore(table).register(
      { phone: new KeyedHash(hashOf(choice)), buyerId: `byr_of_${hashOf(choice)}` },
      admin.record({ action: 'buyer.added' }),
    ),
  unregister: ({ deployment: { admin, table } }, choice) =>
    adminBuyerStore(table).remove(
      new KeyedHash(hashOf(choice)),
      admin.record({ action: 'buyer.removed', details: { buyer_id: `byr_of_${hashOf(choice)}` } }),
    ),
  erase: ({ deployment: { admin } }, choice) => eraseBuyer(admin, new KeyedHash(hashOf(choice))),
  unlock: ({ deployment: { admin } }, choice) => unlockBuyer(admin, new KeyedHash(hashOf(choice))),
} satisfies Readonly<Record<string, Run>>;

/** Links and corrections come more often: only some sequences of them take an external id from one user to another. */
const NAMES = [
  ...(Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]),
  ...(['link', 'link', 'correct', 'correct'] as const),
];

/** Any history of so many operations. */
const operations = (maxLength: number, minLength = 0): fc.Arbitrary<Operation[]> =>
  fc.array(fc.tuple(fc.constantFrom(...NAMES), fc.nat(1000)), { minLength, maxLength });

/** Begins a history with one seller, its key and two users, one of them with an external id. Returns a function that runs operations, a second apart. */
const beginHistory = async (deployment: TestAdministration) => {
  const world: World = { deployment, sellers: [], keys: [], users: [] };
  const run = async (history: readonly Operation[]): Promise<void> => {
    for (const [name, choice] of history) {
      deployment.clock.advance(1);
      try {
        await OPERATIONS[name](world, choice);
      } catch (error) {
        // For example a change of a revoked key.
        if (!(error instanceof AdminError)) throw error;
      }
    }
  };
  await run([
    ['createSeller', 0],
    ['issue', 0],
    ['link', 32],
    ['link', 8],
  ]);
  return run;
};

const newAdministration = useAdministration();

describe('after any history of changes', () => {
  it('the table has no faults, its pages agree with its list, and API Gateway is as it says', async () => {
    await fc.assert(
      fc.asyncProperty(operations(65, 14), async (history) => {
        const deployment = await newAdministration();
        const { admin, table } = deployment;
        // The histories share one API Gateway.
        for (const { id } of await deployment.gatewayKeys()) await deployment.gateway.deleteKey(id);
        const run = await beginHistory(deployment);
        await run(history);
        expect(faultsIn(await itemsIn(table))).toEqual([]);
        const sellers = await admin.sellers.list();
        const pages = await Promise.all(sellers.map(({ seller_id }) => faultsOfPages(table, seller_id)));
        expect(pages.flat()).toEqual([]);
        expect((await findDifferences(admin)).differences).toEqual([]);
      }),
      { numRuns: runsOf(10), endOnFailure: true },
    );
  });
});
