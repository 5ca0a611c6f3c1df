import type { BuyerStore } from '#shared/buyers/store.ts';
import { createUserDeps } from '#shared/deps.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { checkPerson } from '#shared/identity-registry/check-person.ts';
import type { IdentityRegistry } from '#shared/identity-registry/port.ts';
import type { Ids } from '#shared/ids.ts';
import { Problem, problem } from '#shared/problems.ts';
import { keyLimits } from '#shared/rate-limits/key-limits.ts';
import type { RateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { routes } from '#shared/routes.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { BirthDate } from '#shared/users/birth-date.ts';
import type { Person, User, UserStore } from '#shared/users/store.ts';
import { viewOf } from '#shared/users/view.ts';

const route = routes['create-user'];

export interface CreateUserDeps extends EndpointDeps {
  readonly rateLimiter: RateLimiter;
  readonly users: UserStore;
  readonly buyers: BuyerStore;
  readonly identityRegistry: IdentityRegistry;
  readonly hashes: KeyedHashes;
  readonly ids: Ids;
}

/** The same link asked for again: the same person by the same phone (under any hash secret still in use) and birth date. */
const isSameLink = (person: Person, phoneHashes: readonly string[], birthDate: BirthDate): boolean =>
  phoneHashes.includes(person.phoneHash) && person.birthDay === birthDate.isoDay;

export const handle = async (
  { body, caller, withinPlan, deadlineMs, requestId }: Request<typeof route>,
  { users, buyers, identityRegistry, hashes, ids, clock, rateLimiter }: CreateUserDeps,
): Promise<ResponseOf<typeof route>> => {
  const { sellerId } = caller;
  const limits = keyLimits(rateLimiter, { caller, nowMs: clock(), requestId, operation: route.name });
  const [personHashes, phoneHashes] = await Promise.all([
    hashes.person(sellerId, body.national_id),
    hashes.phone(body.phone),
  ]);

  const existing = async (person: Person): Promise<ResponseOf<typeof route>> => {
    if (!isSameLink(person, phoneHashes, body.birth_date)) throw problem('user_conflict');
    return { status: 200, body: viewOf(await users.getUser(sellerId, person.ordinal)) };
  };

  const [person, isRegistered, count] = await Promise.all([
    users.findPerson(sellerId, personHashes),
    buyers.isRegistered(phoneHashes),
    users.countUsers(sellerId),
    limits.check('failed-checks-per-hour'),
    withinPlan,
  ]);
  if (person && isSameLink(person, phoneHashes, body.birth_date)) return existing(person);
  if (!isRegistered) throw problem('buyer_not_registered');
  if (person) return existing(person);
  if (count === undefined) throw new Error('the caller has no seller record');

  const asked = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
  try {
    await checkPerson(identityRegistry, asked, deadlineMs);
  } catch (error) {
    const isVerdict =
      error instanceof Problem && ['identity_mismatch', 'phone_not_owned'].includes(error.code);
    if (isVerdict) await limits.consume('failed-checks-per-hour');
    throw error;
  }

  const user: User = {
    id: ids('usr'),
    nationalIdLastFour: body.national_id.slice(-4),
    birthDate: body.birth_date.text,
    phone: body.phone,
    displayName: body.display_name,
    createdAt: new Date(clock()).toISOString(),
  };
  const outcome = await users.link(
    { sellerId, personHashes, phoneHash: phoneHashes[0], birthDay: body.birth_date.isoDay, user },
    count,
    deadlineMs,
  );
  return 'linked' in outcome ? { status: 201, body: viewOf(outcome.linked) } : existing(outcome.claimed);
};

export const handler = endpoint(route, handle, createUserDeps);
