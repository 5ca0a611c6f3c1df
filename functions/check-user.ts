import type { Request, ResponseOf } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import { HOURLY_CHECK_LIMITS } from '#shared/rate-limits/key-limits.ts';
import { requireLeft } from '#shared/rate-limits/request-limits.ts';
import { buildCheckDeps } from '#shared/users/check-deps.ts';
import { checkLimits } from '#shared/users/check-limits.ts';
import { decideCheck } from '#shared/users/link-rules.ts';
import { paidCheck } from '#shared/users/paid-check.ts';
import { hashLink } from '#shared/users/read-person.ts';
import { changedTooOften, MAX_READS, refuseLink } from '#shared/users/refused-link.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { userConfirmer } from '#shared/users/update-user.ts';
import { userFrom } from '#shared/users/user-item.ts';

const route = userRoutes['check-user'];
type Response = ResponseOf<typeof route>;

/** Checks a user of the caller's seller again, also with another phone. Returns the user with what both registries confirmed. */
export const handle = async (
  request: Request<typeof route>,
  deps: ReturnType<typeof build>,
): Promise<Response> => {
  const { path, body, caller, counted } = request;
  const { users, clock } = deps;
  requireLeft(counted, caller, HOURLY_CHECK_LIMITS);
  const hashes = await hashLink(deps.hashes, caller.sellerId, body);
  const limits = checkLimits(caller, hashes, deps.paidChecksPerDay);

  for (let reads = 1, isChecked = false; reads <= MAX_READS; reads += 1) {
    const nowMs = clock();
    const found = await users.readPerson({
      ...hashes,
      userId: path.id,
      limits: [...limits.paidChecks, ...limits.ofPerson],
      nowMs,
    });
    const decision = decideCheck(found, { body, hashes, limits, isChecked, nowMs });
    if (decision.next === 'refuse') return refuseLink(deps, decision, limits);
    if (decision.next === 'show') return { status: 200, body: userFrom(decision.user) };

    const person = { nationalId: body.national_id, birthDate: body.birth_date.jalali, phone: body.phone };
    if (!isChecked) await paidCheck(deps, { limits, person });
    isChecked = true;
    const result = await users.confirmUser(caller.sellerId, path.id, {
      confirmed: {
        buyer: decision.buyer,
        phoneHash: hashes.phone,
        phone: body.phone,
        birthDate: body.birth_date,
      },
      updatedAt: new Date(clock()).toISOString(),
    });
    if (result.written) return { status: 200, body: result.value };
    if (result.reason === 'user_not_found') throw problem('user_not_found');
  }
  throw changedTooOften();
};

export const build = (parts: KeyedParts) => {
  const deps = buildCheckDeps(parts);
  return { ...deps, users: { ...deps.users, confirmUser: userConfirmer(parts.table) } };
};

export const handler = keyedEndpoint(route, build, handle);
