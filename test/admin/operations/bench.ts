import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { administration } from '#admin/administration.ts';
import { createSeller } from '#admin/operations/create-seller.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '#admin/operations/issue-key.ts';
import type { Seller } from '#admin/stores/seller-schema.ts';
import { hashApiKey } from '#shared/api-keys/format.ts';
import type { KeySecret } from '#shared/api-keys/schema.ts';
import { isUsable } from '#shared/api-keys/schema.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { randomIds } from '#shared/ids.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type FakeUsagePlans, fakeUsagePlans } from '#test/fakes/usage-plans.ts';
import type { EmbeddedTable } from '#test/table/embedded-table.ts';

/** Where an operation was cut off. */
class Killed extends Error {}

let tables = 0;

/** An empty table of its own in the database of another. */
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

/**
 * An administration over a real table and an API Gateway in memory, with ways to look at it and to cut it off. Like API Gateway it
 * remembers what the authorizer said of a key until the cache is flushed.
 */
export const administrationBench = async ({ endpoint }: EmbeddedTable) => {
  const table = await freshTable(endpoint);
  const judgements = new Map<string, KeySecret>();
  const memory = fakeUsagePlans();
  const gateway: FakeUsagePlans = {
    ...memory,
    async flushAuthorizerCache() {
      judgements.clear();
      await memory.flushAuthorizerCache();
    },
  };
  const clock = fakeClock('2026-11-21T10:00:00Z');
  let steps: string[] = [];
  let killAt = Number.POSITIVE_INFINITY;

  const admin = administration({
    table,
    usagePlans: gateway,
    keyPrefix: 'blk_test_',
    stage: 'test',
    actor: 'local:tester',
    clock,
    ids: randomIds,
    beforeStep: (step) => {
      if (steps.length === killAt) throw new Killed(step);
      steps.push(step);
    },
  });

  /** What the authorizer says of a secret, or said before and nobody flushed. */
  const judge = async (secret: string): Promise<KeySecret | undefined> => {
    const hash = hashApiKey(secret);
    const record = judgements.get(hash) ?? (await keySecretStore(table).findSecret(hash));
    // A remembered judgement is not made again; the endpoint keeps the end of a key, to the second.
    if (record === undefined || (!judgements.has(hash) && !isUsable(record, clock()))) return undefined;
    judgements.set(hash, record);
    return record;
  };

  return {
    admin,
    gateway,
    table,
    clock,

    /** The names of the steps that an operation takes. */
    async stepsOf(run: () => Promise<unknown>): Promise<readonly string[]> {
      steps = [];
      await run();
      return steps;
    },

    /** Runs an operation and ends it, as a crash would, before its step number `index` (from 0). */
    async killedBefore(index: number, run: () => Promise<unknown>): Promise<void> {
      steps = [];
      killAt = index;
      const outcome = await run().then(
        () => 'finished',
        (error: unknown) => error,
      );
      killAt = Number.POSITIVE_INFINITY;
      expect(outcome).toBeInstanceOf(Killed);
    },

    judge,

    /** Whether a request with this secret would reach a function, and be let in there. */
    async works(secret: string): Promise<boolean> {
      const record = await judge(secret);
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
