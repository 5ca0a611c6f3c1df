import { isDeepStrictEqual } from 'node:util';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { administration } from '#admin/administration.ts';
import { randomIds } from '#admin/ids.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '#admin/operations/issue-key.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { CACHE_SECONDS } from '#local/gateway/authorizer-cache.ts';
import { isUsable, type KeySecret } from '#shared/api-keys/api-key-item.ts';
import { hashApiKey } from '#shared/api-keys/secret.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import type { Table } from '#shared/table/client.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type RunningApiGateway, useApiGateway } from '#test/simulators/api-gateway/use-api-gateway.ts';
import { startEmbeddedTable } from '#test/table/embedded-table.ts';

/** The error that ends an operation before a step. */
class Interrupted extends Error {}

type Keyed = { readonly Key?: Record<string, unknown>; readonly Item?: Record<string, unknown> };

/** The partition keys that a write contains; none for a read. */
const writtenKeys = (command: { readonly input: object }): string[] => {
  const { input } = command;
  if (command instanceof TransactWriteCommand) {
    const { TransactItems } = input as { TransactItems: readonly Record<string, Keyed>[] };
    return TransactItems.flatMap(({ ConditionCheck: _, ...item }) => Object.values(item)).map(
      ({ Key, Item }) => String((Key ?? Item)?.pk),
    );
  }
  const isWrite = [PutCommand, UpdateCommand, DeleteCommand].some((kind) => command instanceof kind);
  const { Key, Item } = input as Keyed;
  return isWrite ? [String((Key ?? Item)?.pk)] : [];
};

/** Starts to record the writes to a table. Returns a function that lists the partition keys of each write. */
export const recordWrites = ({ client }: Table): (() => readonly string[][]) => {
  const writes: string[][] = [];
  const send = client.send.bind(client) as (command: never, ...rest: never[]) => Promise<never>;
  Object.assign(client, {
    send: (command: { input: object }, ...rest: never[]) => {
      const keys = writtenKeys(command);
      if (keys.length > 0) writes.push(keys);
      return send(command as never, ...rest);
    },
  });
  return () => writes;
};

/** Prepares administrations for the tests of a file. */
export const useAdministration = (
  options: Parameters<typeof useApiGateway>[0] = {},
): (() => ReturnType<typeof newAdministration>) => {
  const apiGateway = useApiGateway(options);
  return () => newAdministration(apiGateway());
};

/**
 * Returns an administration over an empty table and the simulated API Gateway, whose operations can be ended at any step. Like API Gateway,
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
  let steps: string[] = [];
  let interruptAt: number | string | undefined;

  const admin = administration({
    table,
    usagePlans: apiGateway.usagePlans,
    keyPrefix: 'blk_test_',
    stage: 'test',
    actor: 'local:tester',
    clock,
    ids: randomIds,
    onStep: (step) => {
      if (steps.length === interruptAt || step === interruptAt) throw new Interrupted(step);
      steps.push(step);
    },
  });

  /** Returns the authorizer's decision on a secret: a cached one, or a new one. */
  const authorize = async (secret: string): Promise<KeySecret | undefined> => {
    const hash = hashApiKey(secret);
    const cached = decisions.get(hash);
    // A cached decision is not made again. The endpoint enforces the expiry to the second.
    if (cached !== undefined && cached.untilMs > clock()) return cached.record;
    const record = await keySecretStore(table).findSecret(hash);
    if (record === undefined || !isUsable(record, clock())) return undefined;
    decisions.set(hash, { record, untilMs: clock() + CACHE_SECONDS * 1000 });
    return record;
  };

  return {
    admin,
    gateway: apiGateway.usagePlans,
    gatewayKeys: apiGateway.keys,
    /** How often the decisions were flushed. */
    flushes: () => flushes,
    table,
    clock,
    /** Creates another empty table in the database. */
    newTable: () => startEmbeddedTable(),

    /** Runs an operation and returns the names of its steps. */
    async stepsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
      steps = [];
      await run();
      return steps;
    },

    /** Runs an operation and ends it before a step, as a crash would. `at`: the name of the step, or its number from 0. */
    async interruptedBefore(at: number | string, run: () => Promise<unknown>): Promise<void> {
      steps = [];
      interruptAt = at;
      const outcome = await run().then(
        () => 'finished',
        (error: unknown) => error,
      );
      interruptAt = undefined;
      expect(outcome).toBeInstanceOf(Interrupted);
    },

    authorize,

    /** Records the first use of a secret, as the authorizer does. */
    use: (secret: string): Promise<boolean> =>
      keySecretStore(table).recordFirstUse(hashApiKey(secret), new Date(clock()).toISOString().slice(0, 10)),

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
