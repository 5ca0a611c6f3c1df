import { administration } from '#shared/administration/context.ts';
import { createSeller } from '#shared/administration/create-seller.ts';
import { type IssuedKey, issueKey, type KeyRequest } from '#shared/administration/issue-key.ts';
import { hashApiKey } from '#shared/api-keys/format.ts';
import { isUsable } from '#shared/api-keys/rules.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { fakeClock } from '#shared/clock/fake.ts';
import { randomIds } from '#shared/ids/random.ts';
import type { Seller } from '#shared/sellers/schema.ts';
import type { Table } from '#shared/table/client.ts';
import { fakeUsagePlans } from '#shared/usage-plans/fake.ts';

/** Where an operation was cut off. */
class Killed extends Error {}

/** An administration over a real table and an API Gateway in memory, with ways to look at it and to cut it off. */
export const administrationBench = (table: Table) => {
  const gateway = fakeUsagePlans();
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

  return {
    admin,
    gateway,
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

    /** Whether the authorizer would let this secret in, and API Gateway its usage id. */
    async works(secret: string): Promise<boolean> {
      const record = await keySecretStore(table).findSecret(hashApiKey(secret));
      if (record === undefined || !isUsable(record, clock())) return false;
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
