import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, PutCommand, TransactWriteCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { administration } from '#admin/administration.ts';
import { randomIds } from '#admin/ids.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '#admin/operations/issue-key.ts';
import type { Seller } from '#admin/stores/seller-store.ts';
import { hashApiKey } from '#shared/api-keys/format.ts';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import { isUsable } from '#shared/api-keys/schema.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type FakeUsagePlans, fakeUsagePlans } from '#test/fakes/usage-plans.ts';
import type { EmbeddedTable } from '#test/table/embedded-table.ts';

/** The error that ends an operation before a step. */
class Interrupted extends Error {}

let tables = 0;

/** Creates another empty table in the database. */
const freshTable = async (endpoint: string): Promise<Table> => {
  tables += 1;
  const table = openTable(`bench${tables}`, endpoint);
  await table.client.send(
    new CreateTableCommand({
      TableName: table.name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: ['pk', 'sk'].map((AttributeName) => ({
        AttributeName,
        AttributeType: 'S' as const,
      })),
      KeySchema: [
        { AttributeName: 'pk', KeyType: 'HASH' },
        { AttributeName: 'sk', KeyType: 'RANGE' },
      ],
    }),
  );
  return table;
};

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

/**
 * An administration over a real table and a fake of API Gateway, whose operations can be ended at any step. Like API Gateway, it caches
 * the authorizer's decisions until they are flushed.
 */
export const administrationBench = async ({ endpoint }: EmbeddedTable) => {
  const table = await freshTable(endpoint);
  const decisions = new Map<string, KeySecret>();
  const memory = fakeUsagePlans();
  const gateway: FakeUsagePlans = {
    ...memory,
    async flushAuthorizerCache() {
      decisions.clear();
      await memory.flushAuthorizerCache();
    },
  };
  const clock = fakeClock('2026-11-21T10:00:00Z');
  let steps: string[] = [];
  let interruptAt = Number.POSITIVE_INFINITY;

  const admin = administration({
    table,
    usagePlans: gateway,
    keyPrefix: 'blk_test_',
    stage: 'test',
    actor: 'local:tester',
    clock,
    ids: randomIds,
    beforeStep: (step) => {
      if (steps.length === interruptAt) throw new Interrupted(step);
      steps.push(step);
    },
  });

  /** Returns the authorizer's decision on a secret: a cached one, or a new one. */
  const authorize = async (secret: string): Promise<KeySecret | undefined> => {
    const hash = hashApiKey(secret);
    const record = decisions.get(hash) ?? (await keySecretStore(table).findSecret(hash));
    // A cached decision is not made again. The endpoint enforces the expiry to the second.
    if (record === undefined || (!decisions.has(hash) && !isUsable(record, clock()))) return undefined;
    decisions.set(hash, record);
    return record;
  };

  return {
    admin,
    gateway,
    table,
    clock,

    /** Runs an operation and returns the names of its steps. */
    async stepsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
      steps = [];
      await run();
      return steps;
    },

    /** Runs an operation and ends it before its step `index` (from 0), as a crash would. */
    async interruptedBefore(index: number, run: () => Promise<unknown>): Promise<void> {
      steps = [];
      interruptAt = index;
      const outcome = await run().then(
        () => 'finished',
        (error: unknown) => error,
      );
      interruptAt = Number.POSITIVE_INFINITY;
      expect(outcome).toBeInstanceOf(Interrupted);
    },

    authorize,

    /** Whether a request with this secret would be accepted by API Gateway and by the endpoint. */
    async works(secret: string): Promise<boolean> {
      const record = await authorize(secret);
      if (record === undefined || (record.expires_at ?? Number.POSITIVE_INFINITY) * 1000 <= clock())
        return false;
      const key = [...gateway.held.values()].find(({ value }) => value === record.usage_id);
      return key?.enabled === true && gateway.plans.get(key.id)?.has(record.plan) === true;
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
