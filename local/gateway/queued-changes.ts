import * as createUser from '#functions/create-user.ts';
import * as deleteUser from '#functions/delete-user.ts';
import * as updateUser from '#functions/update-user.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import { userRoutes } from '#shared/users/routes.ts';
import type { Functions } from './functions.ts';

/**
 * Returns a function that makes the changes of one seller's users one after the other, in the order in which they come. On AWS each
 * container makes one change at a time. In one process that serves every request, all changes of a seller would compete.
 */
export const changeQueue = () => {
  /** The end of each seller's last change, without its result: the map outlives the request. */
  const lastBySeller = new Map<string, Promise<void>>();
  const ended = () => {};
  return <Result>(sellerId: string, change: () => Promise<Result>): Promise<Result> => {
    const result = (lastBySeller.get(sellerId) ?? Promise.resolve()).then(change);
    lastBySeller.set(sellerId, result.then(ended, ended));
    return result;
  };
};

/** Returns the functions with a queue for the changes of each seller's users: links, corrections and removals. */
export const withQueuedChanges = (functions: Functions): Functions => {
  const queued = changeQueue();
  const create = endpoint(userRoutes['create-user'], createUser.handle, () => {
    const deps = createUser.bind();
    const link: typeof deps.users.link = (newLink, ...rest) =>
      queued(newLink.sellerId, () => deps.users.link(newLink, ...rest));
    return { ...deps, users: { ...deps.users, link } };
  });
  const update = endpoint(userRoutes['update-user'], updateUser.handle, () => {
    const deps = updateUser.bind();
    const change: typeof deps.users.updateUser = (sellerId, ...rest) =>
      queued(sellerId, () => deps.users.updateUser(sellerId, ...rest));
    return { ...deps, users: { updateUser: change } };
  });
  const remove = endpoint(userRoutes['delete-user'], deleteUser.handle, () => {
    const deps = deleteUser.bind();
    const change: typeof deps.users.removeUser = (sellerId, ...rest) =>
      queued(sellerId, () => deps.users.removeUser(sellerId, ...rest));
    return { ...deps, users: { removeUser: change } };
  });
  const endpoints = new Map([
    ...functions.endpoints,
    ['create-user', create],
    ['update-user', update],
    ['delete-user', remove],
  ] as const);
  return { ...functions, endpoints };
};
