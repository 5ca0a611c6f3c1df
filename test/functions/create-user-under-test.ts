import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { handle as checkUser } from '#functions/check-user.ts';
import { handle } from '#functions/create-user.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import type { IdentityVerdict, JalaliDay, OwnershipVerdict } from '#shared/identity-registry/port.ts';
import { routes } from '#shared/routes.ts';
import type { Table } from '#shared/table/client.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { newPerson } from '#test/generated-people.ts';
import { createUserDepsOn, testHashes } from './create-user-deps.ts';
import { callerContext, functionUnderTest } from './harness.ts';

/** Stores sellers without users. */
export const addSellers = async (table: Table, ...sellerIds: readonly string[]): Promise<void> => {
  for (const sellerId of sellerIds) {
    const Item = {
      ...sellerKey(sellerId),
      name: 'Kaveh Books',
      status: 'active',
      user_count: 0,
      removed_count: 0,
      event_count: 0,
    };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  }
};

/** A person whose phone is a registered buyer's. */
export const newBuyerIn = async (table: Table) => {
  const person = newPerson();
  const { current: hash } = await testHashes.phone(person.phone);
  const buyerId = await testHashes.buyerId(person.phone);
  await buyerStore(table).register(hash, buyerId, '2026-01-01T00:00:00.000Z');
  return person;
};

let keys = 0;

/** The authorizer context of a key that has used up nothing yet. */
export const newKey = (plan: 'free' | 'professional' = 'free') => {
  keys += 1;
  return { ...callerContext, plan, keyId: `key_links_${keys}` };
};

/** The results of the registry's later checks; `wait` delays each of them. */
export interface RegistryResults {
  identity?: IdentityVerdict | Error | ((birthDate: JalaliDay) => IdentityVerdict) | undefined;
  ownership?: OwnershipVerdict | Error | undefined;
  wait?: (() => Promise<unknown>) | undefined;
}

type CreateUserDeps = ReturnType<typeof createUserDepsOn>;

interface Options {
  readonly registry?: RegistryResults;
  /** The ceiling of the stage. */
  readonly paidChecksPerDay?: number;
  readonly deps?: (deps: CreateUserDeps) => CreateUserDeps;
}

/** The functions create-user and check-user with a registry whose results a test sets, and whose calls are counted in `paid`. */
export const createUserUnderTest = (
  table: Table,
  { registry = {}, paidChecksPerDay, deps }: Options = {},
) => {
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const paid = { identity: 0, ownership: 0 };
  const respond = async <T>(result: T | Error): Promise<T> => {
    await registry.wait?.();
    if (result instanceof Error) throw result;
    return result;
  };
  const identityRegistry = {
    checkIdentity: (_nationalId: string, birthDate: JalaliDay) => {
      paid.identity += 1;
      const { identity = 'matched' } = registry;
      return respond(typeof identity === 'function' ? identity(birthDate) : identity);
    },
    checkPhoneOwnership: () => {
      paid.ownership += 1;
      return respond(registry.ownership ?? 'matched');
    },
  };
  const own = createUserDepsOn(table, { clock, identityRegistry, paidChecksPerDay });
  const route = routes['create-user'];
  const all = deps?.(own) ?? own;
  const { call: check } = functionUnderTest(routes['check-user'], checkUser, table, all);
  // The last one has the log lines of both.
  const { call, lines } = functionUnderTest(route, handle, table, all);
  const link = async (authorizer = newKey('professional')) =>
    call({ body: await newBuyerIn(table), authorizer });
  return { registry, paid, clock, call, check, link, lines };
};
