import { tokenVerifierFromEnv, type VerifiedBuyer, type VerifyToken } from '#shared/access-tokens/verify.ts';
import { readEnv } from '#shared/env.ts';
import type { Request, ResponseOf } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { serviceUnavailable } from '#shared/problems.ts';
import { HOURLY_CHECK_LIMITS } from '#shared/rate-limits/key-limits.ts';
import { consume, requireLeft } from '#shared/rate-limits/request-limits.ts';
import { buildCheckDeps } from '#shared/users/check-deps.ts';
import { checkLimits } from '#shared/users/check-limits.ts';
import { decideLink } from '#shared/users/link-rules.ts';
import { userLinker } from '#shared/users/link-user.ts';
import { paidCheck } from '#shared/users/paid-check.ts';
import { hashLink } from '#shared/users/read-person.ts';
import { userReader } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';
import type { NewUser } from '#shared/users/schema.ts';
import type { NewUserAttributes } from '#shared/users/user-item.ts';

const route = userRoutes['create-user'];
type Response = ResponseOf<typeof route>;
type Deps = ReturnType<typeof build>;

/** What was read can change until the link is written: it is then read again, at most twice. */
const MAX_READS = 3;

export const handle = async (request: Request<typeof route>, deps: Deps): Promise<Response> => {
  const { body, caller, counted } = request;
  const { users, rateLimiter, clock } = deps;
  const { sellerId } = caller;
  const signedIn = await signedInBuyer(request, deps);
  requireLeft(counted, caller, HOURLY_CHECK_LIMITS);
  const hashes = await hashLink(deps.hashes, sellerId, body);
  const limits = checkLimits(caller, hashes, deps.paidChecksPerDay);

  for (let reads = 1, isChecked = false; reads <= MAX_READS; reads += 1) {
    const found = await users.readPerson({
      ...hashes,
      externalId: body.external_id,
      limits: [...limits.paidChecks, ...limits.ofPerson],
      nowMs: clock(),
    });
    const decision = decideLink(found, { body, hashes, limits, isChecked, signedIn });
    if (decision.next === 'refuse') {
      if (decision.counts) await consume(rateLimiter, [limits.refusedLink], clock());
      throw decision.problem;
    }
    if (decision.next === 'show') {
      const user = await users.getUser(sellerId, decision.userId);
      if (user !== undefined) return { status: 200, body: user };
      continue;
    }

    const person = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
    // A linked person needs no check. So one without a verdict tells that this person is not linked.
    if (!isChecked) await paidCheck(deps, { limits, person, countsUndecided: true });
    isChecked = true;
    const { buyer, lifted } = decision;
    const birthDay = body.birth_date.isoDay;
    const newLink = { ...hashes, buyer, lifted, birthDay, user: newUser(body, clock()) };
    const result = await users.link(newLink);
    if (result.written) return { status: 201, body: result.value };
  }
  throw serviceUnavailable(new Error('what a link requires changed three times while it was made'));
};

/** Undefined without a token. Throws `invalid_access_token`. */
const signedInBuyer = async (
  { authorization, caller }: Request<typeof route>,
  deps: Deps,
): Promise<VerifiedBuyer | undefined> =>
  /^bearer\b/i.test(authorization ?? '') ? deps.verifyToken(authorization, caller.sellerId) : undefined;

/** Of the national id, only the last four digits. */
const newUser = (body: NewUser, nowMs: number): NewUserAttributes => ({
  national_id_last_four: body.national_id.slice(-4),
  birth_date: body.birth_date.text,
  phone: body.phone,
  display_name: body.display_name,
  external_id: body.external_id,
  created_at: new Date(nowMs).toISOString(),
});

export const build = (parts: KeyedParts) => {
  const deps = buildCheckDeps(parts);
  // For the verifier of tokens. A missing one ends the start and not the first link with a token.
  readEnv(['SIGNING_KEYS', 'TOKEN_ISSUERS']);
  let verify: VerifyToken | undefined;
  return {
    ...deps,
    users: { ...deps.users, getUser: userReader(parts.table), link: userLinker(parts.table) },
    /** Built with the first token. A dynamic import would be larger and start slower: esbuild would keep the whole KMS client. */
    verifyToken(...token: Parameters<VerifyToken>) {
      verify ??= tokenVerifierFromEnv(parts.clock);
      return verify(...token);
    },
  };
};

export const handler = keyedEndpoint(route, build, handle);
