import { tokenVerifierFromEnv, type VerifiedBuyer, type VerifyToken } from '#shared/access-tokens/verify.ts';
import { readEnv } from '#shared/env.ts';
import type { Request, ResponseOf } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { paidCheck } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { Problem, problem } from '#shared/problems.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import { type KeyLimits, keyLimits } from '#shared/rate-limits/request-limits.ts';
import { stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { providerSecretFromEnv } from '#shared/secrets/secret-source.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { type LinkHashes, userLinks } from '#shared/users/link-user.ts';
import { personChecks } from '#shared/users/person-check-lease.ts';
import { userReads } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';
import type { NewUser } from '#shared/users/schema.ts';
import type { NewUserAttributes, Person } from '#shared/users/user-item.ts';

const route = userRoutes['create-user'];
type Response = ResponseOf<typeof route>;
type Deps = ReturnType<typeof build>;

/** While one of the limits is used up, every link is refused: no response tells then whether a person or a buyer is known. */
const LIMITS = ['refused-links-per-hour', 'failed-checks-per-hour'] as const;

/** Starts again from the first read while another request checks the person, and if what it read has changed. */
export const handle = async (request: Request<typeof route>, deps: Deps): Promise<Response> => {
  const { authorization, caller, withinPlan, deadlineMs } = request;
  const hasToken = /^bearer\b/i.test(authorization ?? '');
  if (hasToken) await withinPlan;
  const signedIn = hasToken ? await deps.verifyToken(authorization, caller.sellerId) : undefined;
  return retryUntil(deadlineMs, (attemptsBefore) =>
    linkOrFind({ ...request, signedIn, hasWaited: attemptsBefore > 0 }, deps),
  );
};

type Attempt = Request<typeof route> & {
  readonly signedIn: VerifiedBuyer | undefined;
  readonly hasWaited: boolean;
};

/** One attempt. Undefined: start again. */
const linkOrFind = async (
  { body, caller, withinPlan, deadlineMs, signedIn, hasWaited }: Attempt,
  { checks, users, hashes, rateLimiter, ceilings, identityRegistry, clock }: Deps,
): Promise<Response | undefined> => {
  const limits = keyLimits({ rateLimiter, clock }, { caller, withinPlan });
  const paidChecks = ceilings.paidChecks(caller);
  const link = await linkHashes(hashes, caller.sellerId, body);

  const [{ person, refused, buyerHash, isExternalIdTaken, record, limitStates }] = await Promise.all([
    users.lookUp({ ...link, externalId: body.external_id, limits: paidChecks.limits, nowMs: clock() }),
    hasWaited ? limits.recheck(...LIMITS) : limits.check(...LIMITS),
  ]);
  paidChecks.throwIfUsedUp(limitStates);
  if (person !== undefined) {
    if (!isSameLink(person, link, body)) throw await refusedLink(limits, 'user_conflict', person.userId);
    const user = await users.getUser(link.sellerId, person.userId);
    return user && { status: 200, body: user };
  }
  const isLifted = signedIn?.phone === body.phone && signedIn.authTime > (refused?.refusedAt ?? 0);
  if (refused !== undefined && !isLifted) throw await refusedLink(limits, 'link_refused');
  if (buyerHash === undefined) throw await refusedLink(limits, 'buyer_not_registered');

  if (isExternalIdTaken) throw await refusedLink(limits, 'external_id_conflict');

  const check = { sellerId: link.sellerId, personHash: link.personHashes[0], record, deadlineMs, limits };
  const linked = checks.oneAtATime(check, async (release) => {
    const toCheck = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
    const count = () => ceilings.consumePaidCheck(caller, limits);
    await paidCheck({ identityRegistry, count }, toCheck, deadlineMs);
    const newLink = {
      ...link,
      lifted: refused,
      buyerHash,
      birthDay: body.birth_date.isoDay,
      user: newUser(body, clock()),
    };
    const result = await users.link(newLink, deadlineMs, [release]);
    return result.written ? result.value : undefined;
  });
  const user = await linked.catch(async (error) => {
    // A linked person needs no check. So an undecided one tells that this person is not linked.
    if (isUndecided(error)) await limits.consume('refused-links-per-hour');
    throw error;
  });
  return user === undefined || user === 'busy' ? undefined : { status: 201, body: user };
};

const isUndecided = (error: unknown): boolean =>
  error instanceof Problem && ['verification_unavailable', 'rate_limit_exceeded'].includes(error.code);

const linkHashes = async (hashes: KeyedHashes, sellerId: string, body: NewUser): Promise<LinkHashes> => {
  const [personHashes, phoneHashes] = await Promise.all([
    hashes.person(sellerId, body.national_id),
    hashes.phone(body.phone),
  ]);
  return { sellerId, personHashes, phoneHashes };
};

const isSameLink = (person: Person, { phoneHashes }: LinkHashes, { birth_date }: NewUser): boolean =>
  phoneHashes.includes(person.phoneHash) && person.birthDay === birth_date.isoDay;

/** Throws `rate_limit_exceeded`, which tells nothing, if the refusal cannot be counted. */
const refusedLink = async (
  limits: Pick<KeyLimits, 'consume'>,
  code: 'user_conflict' | 'link_refused' | 'buyer_not_registered' | 'external_id_conflict',
  user_id?: string,
): Promise<Problem> => {
  await limits.consume('refused-links-per-hour');
  return problem(code, { user_id });
};

/** Of the national id, only the last four digits. */
const newUser = (body: NewUser, nowMs: number): NewUserAttributes => ({
  national_id_last_four: body.national_id.slice(-4),
  birth_date: body.birth_date.text,
  phone: body.phone,
  display_name: body.display_name,
  external_id: body.external_id,
  created_at: new Date(nowMs).toISOString(),
});

export const build = ({ table, rateLimiter, clock }: KeyedParts) => {
  // The last two are read by the verifier of tokens. A missing one ends the start and not the first link with a token.
  const env = readEnv([
    'IDENTITY_PROVIDERS',
    'PAID_CHECKS_PER_DAY',
    'KEY_PREFIX',
    'SIGNING_KEYS',
    'TOKEN_ISSUER',
  ]);
  assertSandboxAllowed(env.IDENTITY_PROVIDERS, env.KEY_PREFIX);
  let verify: VerifyToken | undefined;
  return {
    clock,
    rateLimiter,
    ceilings: stageCeilings(rateLimiter, { paidChecksPerDay: env.PAID_CHECKS_PER_DAY }, clock),
    checks: personChecks(table, clock),
    users: { ...userReads(table), ...userLinks(table) },
    hashes: hashesFromEnv(),
    /** Built with the first token. A dynamic import would be larger and start slower: esbuild would keep the whole KMS client. */
    verifyToken(...token: Parameters<VerifyToken>) {
      verify ??= tokenVerifierFromEnv(clock);
      return verify(...token);
    },
    identityRegistry: identityRegistryFrom(env.IDENTITY_PROVIDERS, providerSecretFromEnv()),
  };
};

export const handler = keyedEndpoint(route, build, handle);
