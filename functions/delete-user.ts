import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import { deadlineWithin } from '#shared/request-context.ts';
import { userRemover } from '#shared/users/remove-user.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { FREE_CHANGE_WAIT_MS } from '#shared/users/user-change.ts';

const route = userRoutes['delete-user'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { path, caller },
  { users, clock },
) => {
  const removedAt = new Date(clock()).toISOString();
  const deadline = deadlineWithin(FREE_CHANGE_WAIT_MS);
  const options = { removedAt, reason: 'seller', deadline } as const;
  const result = await users.removeUser(caller.sellerId, path.id, options);
  if (result === 'not_found') throw problem('user_not_found');
  return { status: 204 };
};

export const build = ({ table, clock }: KeyedParts) => ({
  users: { removeUser: userRemover(table) },
  clock,
});

export const handler = keyedEndpoint(route, build, handle);
