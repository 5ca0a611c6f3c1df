import { systemClock } from '#shared/clock.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { type UserRemovals, userRemovals } from '#shared/users/remove-user.ts';
import { userRoutes } from '#shared/users/routes.ts';

const route = userRoutes['delete-user'];

export interface DeleteUserDeps extends EndpointDeps {
  readonly users: UserRemovals;
}

/** Removes a user of the caller's seller. Returns 204, also if the user is removed already. */
export const handle: Handle<typeof route, DeleteUserDeps> = async (
  { path, caller, withinPlan, deadlineMs },
  { users, clock },
) => {
  const removedAt = new Date(clock()).toISOString();
  const options = { removedAt, reason: 'seller', deadlineMs, mayWrite: withinPlan } as const;
  const result = await users.removeUser(caller.sellerId, path.id, options);
  if (result === 'not_found') throw problem('user_not_found');
  return { status: 204 };
};

/** Builds the dependencies from the environment. */
export const bind = (): DeleteUserDeps => {
  const table = tableFromEnv();
  return { clock: systemClock, rateLimiter: rateLimiterFromEnv(table), users: userRemovals(table) };
};

export const handler = endpoint(route, handle, bind);
