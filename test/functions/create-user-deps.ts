import { tokenVerifier } from '#shared/access-tokens/verify.ts';
import type { Clock } from '#shared/clock.ts';
import type { IdentityRegistry } from '#shared/identity-registry/port.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { ISSUER, signer } from '#test/fakes/buyer-tokens.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { userStore } from '#test/shared/users/user-store.ts';

export const testHashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));

interface Options {
  readonly clock: Clock;
  readonly identityRegistry: IdentityRegistry;
  readonly paidChecksPerDay?: number | undefined;
}

/** The dependencies of create-user on a real table. Parts can be replaced by spreading over them. */
export const createUserDepsOn = (table: Table, { clock, identityRegistry, paidChecksPerDay }: Options) => ({
  users: userStore(table),
  rateLimiter: limiterOn(table),
  paidChecksPerDay,
  hashes: testHashes,
  identityRegistry,
  verifyToken: tokenVerifier({ publicKeys: signer.publicKeys, issuers: [ISSUER], clock }),
  clock,
});
