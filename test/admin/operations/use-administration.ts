import { isDeepStrictEqual } from 'node:util';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { administration } from '#admin/administration.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '#admin/operations/issue-key.ts';
import { createSeller } from '#admin/operations/sellers.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import type { AuthorizerCache, UsagePlans } from '#admin/usage-plans/port.ts';
import { isUsable, type KeySecret } from '#shared/api-keys/api-key-item.ts';
import { DECISION_CACHE_SECONDS } from '#shared/api-keys/caller.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Table } from '#shared/table/client.ts';
import type { ItemKey } from '#shared/table/keys.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type RunningApiGateway, useApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';

/** The error that ends an operation before a write. */
class Interrupted extends Error {}

type Keyed = { readonly Key?: ItemKey; readonly Item?: ItemKey };

/** The keys of the items that a write contains; none for a read. */
const writtenKeys = (command: { readonly input: object }): ItemKey[] => {
  const { input } = command;
  if (command instanceof TransactWriteCommand) {
    const { TransactItems } = input as { TransactItems: readonly Record<string, Keyed>[] };
    return TransactItems.flatMap(({ ConditionCheck: _, ...item }) => Object.values(item)).map(
      ({ Key, Item }) => (Key ?? Item) as ItemKey,
    );
  }
  const isWrite = [PutCommand, UpdateCommand, DeleteCommand].some((kind) => command instanceof kind);
  const { Key, Item } = input as Keyed;
  return isWrite ? [(Key ?? Item) as ItemKey] : [];
};

/** Awaits `before` with the keys of each write to a table before it is sent. */
const beforeWrites = ({ client }: Table, before: (keys: readonly ItemKey[]) => unknown): void => {
  const send = client.send.bind(client) as (command: never, ...rest: never[]) => Promise<never>;
  Object.assign(client, {
    send: async (command: { input: object }, ...rest: never[]) => {
      const keys = writtenKeys(command);
      if (keys.length > 0) await before(keys);
      return send(command as never, ...rest);
    },
  });
};

/** Starts to record the writes to a table. Returns a function that lists the partition keys of each write. */
export const recordWrites = (table: Table): (() => readonly string[][]) => {
  const writes: string[][] = [];
  beforeWrites(table, (keys) => writes.push(keys.map(({ pk }) => pk)));
  return () => writes;
};

/** The kinds of items that a write contains: `write KEY SECRET AUDIT`. */
const writeName = (keys: readonly ItemKey[]): string => {
  const kinds = keys.map(({ pk, sk }) => (pk.startsWith('SELLER#') ? sk : pk).replace(/#.*/, ''));
  return ['write', ...new Set(kinds)].join(' ');
};

/** What an administration changes in API Gateway, with `before` awaited before each such call: `attach free`, `flush`. */
const observedGateway = (
  { usagePlans, authorizerCache }: RunningApiGateway,
  before: (call: string) => Promise<void>,
): { readonly usagePlans: UsagePlans; readonly authorizerCache: AuthorizerCache } => {
  const observed =
    <Args extends readonly unknown[], T>(name: string, call: (...args: Args) => Promise<T>) =>
    async (...args: Args): Promise<T> => {
      await before([name, ...args.slice(1)].join(' '));
      return call(...args);
    };
  return {
    authorizerCache: { flush: observed('flush', authorizerCache.flush) },
    usagePlans: {
      ...usagePlans,
      createKey: observed('createKey', usagePlans.createKey),
      deleteKey: observed('deleteKey', usagePlans.deleteKey),
      setEnabled: observed('setEnabled', usagePlans.setEnabled),
      attach: observed('attach', usagePlans.attach),
      detach: observed('detach', usagePlans.detach),
    },
  };
};

/** Prepares administrations for the tests of a file. */
export const useAdministration = (
  options: Parameters<typeof useApiGateway>[0] = {},
): (() => ReturnType<typeof newAdministration>) => {
  const apiGateway = useApiGateway(options);
  return () => newAdministration(apiGateway());
};

/**
 * Returns an administration over an empty table and the simulated API Gateway, whose operations can be ended before any write. Like API Gateway,
 * it caches the authorizer's decisions for 300 seconds, or until they are flushed.
 */
const newAdministration = async (apiGateway: RunningApiGateway) => {
  const table = await startEmbeddedTable();
  const decisions = new Map<string, { readonly record: KeySecret; readonly untilMs: number }>();
  let flushes = 0;
  apiGateway.simulator.onFlush(() => {
    flushes += 1;
    decisions.clear();
  });
  const clock = fakeClock('2026-11-21T10:00:00Z');
  let hook: ((write: string) => unknown) | undefined;
  /** Runs the hook of an operation. Its own writes are not observed. */
  const before = async (write: string): Promise<void> => {
    const current = hook;
    hook = undefined;
    try {
      await current?.(write);
    } finally {
      hook = current;
    }
  };
  beforeWrites(table, (keys) => before(writeName(keys)));
  const withHook = async <T>(wanted: (write: string) => unknown, run: () => Promise<T>): Promise<T> => {
    hook = wanted;
    try {
      return await run();
    } finally {
      hook = undefined;
    }
  };

  const admin = administration({
    table,
    ...observedGateway(apiGateway, before),
    registryIsSandbox: false,
    keyPrefix: 'blk_test_',
    stage: 'test',
    actor: 'local:tester',
    clock,
  });

  /** Returns the authorizer's decision on a secret: a cached one, or a new one. */
  const authorize = async (secret: string): Promise<KeySecret | undefined> => {
    const hash = hashApiKey(secret);
    const cached = decisions.get(hash);
    // A cached decision is not made again. The endpoint enforces the expiry to the second.
    if (cached !== undefined && cached.untilMs > clock()) return cached.record;
    const record = await keySecretStore(table).findSecret(hash);
    if (record === undefined || !isUsable(record, clock())) return undefined;
    decisions.set(hash, { record, untilMs: clock() + DECISION_CACHE_SECONDS * 1000 });
    return record;
  };

  return {
    admin,
    gateway: apiGateway.usagePlans,
    gatewayKeys: apiGateway.keys,
    /** The id in API Gateway of the key with an id; '' if it is not there. */
    gatewayIdOf: async (keyId: string): Promise<string> =>
      (await apiGateway.keys()).find(({ name }) => name === admin.gatewayKeyName(keyId))?.id ?? '',
    /** How often the decisions were flushed. */
    flushes: () => flushes,
    table,
    clock,
    /** Creates another empty table in the database. */
    newTable: () => startEmbeddedTable(),

    /** Runs an operation and awaits `meanwhile` before each of its writes, to the table or to API Gateway. */
    beforeEachWrite: withHook,

    /** Runs an operation and returns its writes, to the table and to API Gateway. */
    async writesOf(run: () => Promise<unknown>): Promise<readonly string[]> {
      const writes: string[] = [];
      await withHook((write) => writes.push(write), run);
      return writes;
    },

    /** Runs an operation and ends it before a write, as a crash would. `at`: the name of the write, or its number from 0. */
    async interruptedBefore(at: number | string, run: () => Promise<unknown>): Promise<void> {
      let count = 0;
      const interrupt = (write: string) => {
        if (count === at || write === at) throw new Interrupted(write);
        count += 1;
      };
      await expect(withHook(interrupt, run)).rejects.toBeInstanceOf(Interrupted);
    },

    authorize,

    /** Whether a request with this secret would be accepted by API Gateway and by the endpoint. */
    async works(secret: string): Promise<boolean> {
      const record = await authorize(secret);
      if (record === undefined || (record.expires_at ?? Number.POSITIVE_INFINITY) * 1000 <= clock())
        return false;
      const throttle = apiGateway.simulator.throttleOf(record.usage_id);
      return isDeepStrictEqual(throttle, usagePlanThrottle(record.plan));
    },

    seller: (name = 'Kaveh Books'): Promise<Seller> => createSeller(admin, name),

    async issued(request: Partial<KeyRequest> = {}): Promise<IssuedKey & { seller: Seller }> {
      const seller = await createSeller(admin, 'Kaveh Books');
      clock.advance(1);
      const issued = await issueKey(admin, {
        sellerId: seller.seller_id,
        name: 'server',
        plan: 'free',
        scopes: ['users:read'],
        ...request,
      });
      return { ...issued, seller };
    },
  };
};

export type TestAdministration = Awaited<ReturnType<typeof newAdministration>>;
