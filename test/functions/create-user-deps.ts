import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CreateUserDeps } from '#functions/create-user.ts';
import type { Clock } from '#shared/clock.ts';
import type { IdentityRegistry } from '#shared/identity-registry/port.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { type StageCeilingNumbers, stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { personChecks, type WaitTimer } from '#shared/users/person-check-lease.ts';
import { personCheckStore } from '#shared/users/person-check-store.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { LIMITER_TIMEOUT_MS } from './harness.ts';

export const testHashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));

/** Polls after some turns of the event loop, without a pause. */
export const eagerTimer: WaitTimer = {
  nowMs: () => performance.now(),
  async pause() {
    for (let turns = 0; turns < 50; turns += 1) await nextTurn();
  },
};

interface Options {
  readonly clock: Clock;
  readonly identityRegistry: IdentityRegistry;
  readonly ceilings?: StageCeilingNumbers;
  readonly timer?: WaitTimer;
}

/** The dependencies of create-user on a real table. Parts can be replaced by spreading over them. */
export const createUserDepsOn = (
  table: Table,
  { clock, identityRegistry, ceilings = {}, timer = eagerTimer }: Options,
): CreateUserDeps & Required<Pick<CreateUserDeps, 'rateLimiter'>> => {
  const limiter = rateLimiter(table, LIMITER_TIMEOUT_MS);
  return {
    checks: personChecks(personCheckStore(table), clock, timer),
    users: userStore(table),
    rateLimiter: limiter,
    ceilings: stageCeilings(limiter, ceilings, clock),
    hashes: testHashes,
    identityRegistry,
    clock,
  };
};
