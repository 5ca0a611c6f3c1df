import { systemClock } from '#shared/clock.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { type UserUpdates, userUpdates } from '#shared/users/update-user.ts';

const route = userRoutes['update-user'];

export interface UpdateUserDeps extends EndpointDeps {
  readonly users: UserUpdates;
}

/** Corrects a user of the caller's seller. Returns 200 with the user, also if nothing changes. */
export const handle: Handle<typeof route, UpdateUserDeps> = async (
  { path, body, caller, withinPlan, deadlineMs },
  { users, clock },
) => {
  const updatedAt = new Date(clock()).toISOString();
  const options = { update: body, updatedAt, deadlineMs, mayWrite: withinPlan };
  const result = await users.updateUser(caller.sellerId, path.id, options);
  if (!result.written) throw problem(result.reason);
  return { status: 200, body: result.value };
};

/** Builds the dependencies from the environment. */
export const bind = (): UpdateUserDeps => {
  const table = tableFromEnv();
  return { clock: systemClock, rateLimiter: rateLimiterFromEnv(table), users: userUpdates(table) };
};

export const handler = endpoint(route, handle, bind);
