import { systemClock } from '#shared/clock.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { problem } from '#shared/problems.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { type UserReads, userReads } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';

const route = userRoutes['get-user'];

export interface GetUserDeps extends EndpointDeps {
  readonly users: Pick<UserReads, 'getUser'>;
}

/** Returns a user of the caller's seller. Throws `user_not_found`. */
export const handle: Handle<typeof route, GetUserDeps> = async ({ path, caller }, { users }) => {
  const user = await users.getUser(caller.sellerId, path.id);
  if (user === undefined) throw problem('user_not_found');
  return { status: 200, body: user };
};

/** Builds the dependencies from the environment. */
export const bind = (): GetUserDeps => {
  const table = tableFromEnv();
  return { clock: systemClock, rateLimiter: rateLimiterFromEnv(table), users: userReads(table) };
};

export const handler = endpoint(route, handle, bind);
