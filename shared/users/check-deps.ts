import type { Clock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { providerSecretFromEnv } from '#shared/secrets/secret-source.ts';
import type { Table } from '#shared/table/client.ts';
import { personReader } from './read-person.ts';

interface Parts {
  readonly table: Table;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
}

/** What a link and a check of a user both use. */
export const buildCheckDeps = ({ table, rateLimiter, clock }: Parts) => {
  const env = readEnv(['IDENTITY_PROVIDERS', 'PAID_CHECKS_PER_DAY', 'KEY_PREFIX']);
  assertSandboxAllowed(env.IDENTITY_PROVIDERS, env.KEY_PREFIX);
  return {
    clock,
    rateLimiter,
    /** The ceiling of the stage. */
    paidChecksPerDay: env.PAID_CHECKS_PER_DAY,
    users: { readPerson: personReader(table) },
    hashes: hashesFromEnv(),
    identityRegistry: identityRegistryFrom(env.IDENTITY_PROVIDERS, providerSecretFromEnv()),
  };
};
