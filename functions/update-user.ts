import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { userUpdater } from '#shared/users/update-user.ts';

const route = userRoutes['update-user'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { path, body, caller },
  { users, clock },
) => {
  const updatedAt = new Date(clock()).toISOString();
  const options = { update: body, updatedAt };
  const result = await users.updateUser(caller.sellerId, path.id, options);
  if (!result.written) throw problem(result.reason);
  return { status: 200, body: result.value };
};

export const build = ({ table, clock }: KeyedParts) => ({
  users: { updateUser: userUpdater(table) },
  clock,
});

export const handler = keyedEndpoint(route, build, handle);
