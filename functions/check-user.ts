import type { Request, ResponseOf } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import { retryUntil } from '#shared/table/backoff.ts';
import { buildPersonDeps, readPerson } from '#shared/users/person-request.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { userConfirmer } from '#shared/users/update-user.ts';
import { userFrom } from '#shared/users/user-item.ts';

const route = userRoutes['check-user'];
type Response = ResponseOf<typeof route>;
type Deps = ReturnType<typeof build>;

/** The same data again within this time of a check need no other: a request can be repeated, and be sent by many at once. */
const CONFIRMED_FOR_MS = 60_000;

const NOT_OF_THE_USER = 'This national_id is not that of the user.';

/** Times of two machines differ by the error of their clocks. A time that only a wrong clock can have written counts as old. */
const isRecent = (checkedAt: unknown, nowMs: number): boolean =>
  Math.abs(nowMs - Date.parse(String(checkedAt))) < CONFIRMED_FOR_MS;

/**
 * Checks a user of the caller's seller again, also with another phone. Returns the user with what both registries confirmed. Starts again
 * from the first read while another request checks the person, and if the buyer changed after it was read.
 */
export const handle = (request: Request<typeof route>, deps: Deps): Promise<Response> =>
  retryUntil(request.deadlineMs, (attemptsBefore) =>
    checkUser({ ...request, hasWaited: attemptsBefore > 0 }, deps),
  );

/** One attempt. Undefined: start again. */
const checkUser = async (
  attempt: Request<typeof route> & { readonly hasWaited: boolean },
  deps: Deps,
): Promise<Response | undefined> => {
  const { path, body, deadlineMs } = attempt;
  const found = await readPerson(attempt, deps, { userId: path.id });
  const { link, user, person, buyer } = found;
  if (user === undefined) throw problem('user_not_found');
  if (!link.person.isOf(user.person_hash))
    throw await found.refusal('user_conflict', { detail: NOT_OF_THE_USER });
  if (buyer === undefined) throw await found.refusal('buyer_not_registered');
  if (isRecent(user.checked_at, deps.clock()) && found.isSame(user.phone_hash, person?.birthDay))
    return { status: 200, body: userFrom(user) };

  const checked = await found.check({
    // Of the user's own phone, it tells nothing; of another one, that it is registered.
    countsUndecided: !link.phone.isOf(user.phone_hash),
    async write(release) {
      const updatedAt = new Date(deps.clock()).toISOString();
      const confirmed = { buyer, phoneHash: link.phone, phone: body.phone, birthDate: body.birth_date };
      const options = { confirmed, updatedAt, deadlineMs, alsoWrite: [release] };
      const result = await deps.users.confirmUser(link.sellerId, path.id, options);
      if (!result.written && result.reason === 'user_not_found') throw problem(result.reason);
      return result.written ? result.value : undefined;
    },
  });
  return checked && { status: 200, body: checked };
};

export const build = (parts: KeyedParts) => {
  const deps = buildPersonDeps(parts);
  return { ...deps, users: { ...deps.users, confirmUser: userConfirmer(parts.table) } };
};

export const handler = keyedEndpoint(route, build, handle);
