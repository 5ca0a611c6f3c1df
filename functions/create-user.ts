import { systemClock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { type PaidCheckDeps, paidCheck } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { problem } from '#shared/problems.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import { type RateLimiter, rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { keyLimits } from '#shared/rate-limits/request-limits.ts';
import { stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { hashesFromEnv, providerSecretFromEnv } from '#shared/secrets/from-env.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { type LinkHashes, type UserLinks, userLinks } from '#shared/users/link-user.ts';
import { type PersonChecks, personChecks } from '#shared/users/person-check-lease.ts';
import { personCheckStore } from '#shared/users/person-check-store.ts';
import { type UserReads, userReads } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';
import type { NewUser } from '#shared/users/schema.ts';
import type { NewUserAttributes, Person } from '#shared/users/user-item.ts';

const route = userRoutes['create-user'];
type Response = ResponseOf<typeof route>;

export interface CreateUserDeps extends EndpointDeps, Omit<PaidCheckDeps, 'limits'> {
  readonly rateLimiter: RateLimiter;
  readonly checks: PersonChecks;
  readonly users: UserLinks & Pick<UserReads, 'getUser'>;
  readonly hashes: KeyedHashes;
}

/**
 * Links a buyer to the caller's seller. Returns 201 with the new user, or 200 with the existing one. Retries if the user was removed
 * between the two reads that find it: the person can be linked again then.
 */
export const handle = (request: Request<typeof route>, deps: CreateUserDeps): Promise<Response> =>
  retryUntil(request.deadlineMs, () => linkOrFind(request, deps));

/** One attempt. Undefined if the user was removed after its person was read. */
const linkOrFind = async (
  { body, caller, receivedAtMs, withinPlan, deadlineMs }: Request<typeof route>,
  { checks, users, hashes, rateLimiter, ceilings, identityRegistry, clock }: CreateUserDeps,
): Promise<Response | undefined> => {
  const limits = keyLimits({ rateLimiter, clock }, { caller, withinPlan });
  const link = await linkHashes(hashes, caller.sellerId, body);
  const existing = (person: Person) => existingLink(users, link, body, person);

  const [known] = await Promise.all([users.lookUp(link), withinPlan]);
  if (known.person) return existing(known.person);

  // Checked first, so that no response beyond the limit depends on the registration.
  await limits.check('unregistered-buyers-per-hour');
  if (!known.isRegistered) {
    await limits.consume('unregistered-buyers-per-hour');
    throw problem('buyer_not_registered');
  }

  const request = {
    person: { sellerId: link.sellerId, personHash: link.personHashes[0] },
    dataHash: link.dataHash,
    // From the gateway on: a request that waited for its function takes part in a check that ended meanwhile.
    startedAtMs: receivedAtMs,
    deadlineMs,
    record: known.checks,
    findPerson: () => users.findPerson(link.sellerId, link.personHashes),
    limits,
  };
  const result = await checks.oneAtATime(request, async (release) => {
    const person = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
    await paidCheck({ identityRegistry, limits, ceilings }, person, deadlineMs);
    const newLink = { ...link, birthDay: body.birth_date.isoDay, user: newUser(body, clock()) };
    return users.link(newLink, deadlineMs, [release]);
  });
  return result.written ? { status: 201, body: result.value } : existing(result.reason);
};

/** The keyed hashes of a request. `dataHash` is the hash of the data that a check of the person compares. */
const linkHashes = async (hashes: KeyedHashes, sellerId: string, body: NewUser) => {
  const [personHashes, phoneHashes] = await Promise.all([
    hashes.person(sellerId, body.national_id),
    hashes.phone(body.phone),
  ]);
  const dataHash = await hashes.checkedData(body.birth_date.isoDay, phoneHashes[0]);
  return { sellerId, personHashes, phoneHashes, dataHash };
};

/**
 * Returns the user of a linked person; undefined if it was removed since the person was read. Throws `user_conflict` if the request has
 * another phone or birth date.
 */
const existingLink = async (
  users: Pick<UserReads, 'getUser'>,
  { sellerId, phoneHashes }: LinkHashes,
  { birth_date }: NewUser,
  person: Person,
): Promise<Response | undefined> => {
  const isSameLink = phoneHashes.includes(person.phoneHash) && person.birthDay === birth_date.isoDay;
  if (!isSameLink) throw problem('user_conflict');
  const user = await users.getUser(sellerId, person.userId);
  return user && { status: 200, body: user };
};

/** The attributes to store. Of the national id, only the last four digits. */
const newUser = (body: NewUser, nowMs: number): NewUserAttributes => ({
  national_id_last_four: body.national_id.slice(-4),
  birth_date: body.birth_date.text,
  phone: body.phone,
  display_name: body.display_name,
  created_at: new Date(nowMs).toISOString(),
});

/** Builds the dependencies from the environment. */
export const bind = (): CreateUserDeps => {
  const env = readEnv(['IDENTITY_PROVIDERS', 'PAID_CHECKS_PER_DAY', 'KEY_PREFIX']);
  assertSandboxAllowed(env.IDENTITY_PROVIDERS, env.KEY_PREFIX);
  const table = tableFromEnv();
  const rateLimiter = rateLimiterFromEnv(table);
  return {
    clock: systemClock,
    rateLimiter,
    ceilings: stageCeilings(rateLimiter, { paidChecksPerDay: env.PAID_CHECKS_PER_DAY }, systemClock),
    checks: personChecks(personCheckStore(table), systemClock),
    users: { ...userReads(table), ...userLinks(table) },
    hashes: hashesFromEnv(),
    identityRegistry: identityRegistryFrom(env.IDENTITY_PROVIDERS, providerSecretFromEnv()),
  };
};

export const handler = endpoint(route, handle, bind);
