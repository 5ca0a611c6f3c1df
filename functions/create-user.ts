import { tokenVerifierFromEnv, type VerifiedBuyer, type VerifyToken } from '#shared/access-tokens/verify.ts';
import { readEnv } from '#shared/env.ts';
import type { Request, ResponseOf } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { HOURLY_CHECK_LIMITS } from '#shared/rate-limits/key-limits.ts';
import { requireLeft } from '#shared/rate-limits/request-limits.ts';
import { buildCheckDeps } from '#shared/users/check-deps.ts';
import { checkLimits } from '#shared/users/check-limits.ts';
import { decideLink } from '#shared/users/link-rules.ts';
import { userLinker } from '#shared/users/link-user.ts';
import { paidCheck } from '#shared/users/paid-check.ts';
import { hashLink } from '#shared/users/read-person.ts';
import { userReader } from '#shared/users/read-users.ts';
import { changedTooOften, MAX_READS, refuseLink } from '#shared/users/refused-link.ts';
import { userRoutes } from '#shared/users/routes.ts';

const route = userRoutes['create-user'];
type Response = ResponseOf<typeof route>;
type Deps = ReturnType<typeof build>;

export const handle = async (request: Request<typeof route>, deps: Deps): Promise<Response> => {
  const { body, caller, counted } = request;
  const { users, clock } = deps;
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
    if (decision.next === 'refuse') return refuseLink(deps, decision, limits);
    if (decision.next === 'show') {
      const user = await users.getUser(sellerId, decision.userId);
      if (user !== undefined) return { status: 200, body: user };
      continue;
    }

    const person = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
    if (!isChecked) await paidCheck(deps, { limits, person });
    isChecked = true;
    const { buyer, lifted } = decision;
    const linkedAt = new Date(clock()).toISOString();
    const result = await users.link({ ...hashes, buyer, lifted, body, linkedAt });
    if (result.written) return { status: 201, body: result.value };
  }
  throw changedTooOften();
};

/** Some generated clients send the API key in every header that the document names. A key is no token. */
const API_KEY = /^bearer +blk_/i;

/** Undefined without a token. Throws `invalid_access_token`. */
const signedInBuyer = async (
  { authorization, caller }: Request<typeof route>,
  deps: Deps,
): Promise<VerifiedBuyer | undefined> => {
  const isToken = /^bearer\b/i.test(authorization ?? '') && !API_KEY.test(authorization ?? '');
  return isToken ? deps.verifyToken(authorization, caller.sellerId) : undefined;
};

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
