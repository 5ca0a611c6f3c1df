import { tokenVerifierFromEnv, type VerifiedBuyer, type VerifyToken } from '#shared/access-tokens/verify.ts';
import { readEnv } from '#shared/env.ts';
import type { Request, ResponseOf } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { userLinker } from '#shared/users/link-user.ts';
import { buildPersonDeps, readPerson } from '#shared/users/person-request.ts';
import { userReader } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';
import type { NewUser } from '#shared/users/schema.ts';
import type { NewUserAttributes } from '#shared/users/user-item.ts';

const route = userRoutes['create-user'];
type Response = ResponseOf<typeof route>;
type Deps = ReturnType<typeof build>;

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
const linkOrFind = async (attempt: Attempt, deps: Deps): Promise<Response | undefined> => {
  const { body, caller, deadlineMs, signedIn } = attempt;
  const found = await readPerson(attempt, deps, { externalId: body.external_id });
  const { link, person, refused, buyer } = found;
  if (person !== undefined) {
    if (!found.isSame(person.phoneHash, person.birthDay))
      throw await found.refusal('user_conflict', { user_id: person.userId });
    const user = await deps.users.getUser(caller.sellerId, person.userId);
    return user && { status: 200, body: user };
  }
  const isLifted = signedIn?.phone === body.phone && signedIn.authTime > (refused?.refusedAt ?? 0);
  if (refused !== undefined && !isLifted) throw await found.refusal('link_refused');
  if (buyer === undefined) throw await found.refusal('buyer_not_registered');

  if (found.isExternalIdTaken) throw await found.refusal('external_id_conflict');

  const user = await found.check({
    // A linked person needs no check. So an undecided one tells that this person is not linked.
    countsUndecided: true,
    async write(release) {
      const birthDay = body.birth_date.isoDay;
      const newLink = { ...link, lifted: refused, buyer, birthDay, user: newUser(body, deps.clock()) };
      const result = await deps.users.link(newLink, deadlineMs, [release]);
      return result === 'outdated' ? undefined : result;
    },
  });
  return user && { status: 201, body: user };
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

export const build = (parts: KeyedParts) => {
  const deps = buildPersonDeps(parts);
  // For the verifier of tokens. A missing one ends the start and not the first link with a token.
  readEnv(['SIGNING_KEYS', 'TOKEN_ISSUER']);
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
