import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import { userReader } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';

const route = userRoutes['get-user'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async ({ path, caller }, { users }) => {
  const user = await users.getUser(caller.sellerId, path.id);
  if (user === undefined) throw problem('user_not_found');
  return { status: 200, body: user };
};

export const build = ({ table }: KeyedParts) => ({ users: { getUser: userReader(table) } });

export const handler = keyedEndpoint(route, build, handle);
