import { bind, handle } from '#functions/create-user.ts';
import { endpoint } from '#shared/http/endpoint.ts';
import type { UserLinks } from '#shared/users/link-user.ts';
import { userRoutes } from '#shared/users/routes.ts';
import type { Functions } from './functions.ts';

/**
 * Makes the links of one seller one after the other, in the order in which they come. On AWS each container makes one link at a time. In
 * one process that serves every request, all links of a seller would compete for the same ordinal.
 */
export const queuedLinks = ({ link }: Pick<UserLinks, 'link'>): Pick<UserLinks, 'link'> => {
  /** The end of each seller's last link, without its user: the map outlives the request. */
  const lastBySeller = new Map<string, Promise<void>>();
  const ended = () => {};
  return {
    link(newLink, ...rest) {
      const { sellerId } = newLink;
      const result = (lastBySeller.get(sellerId) ?? Promise.resolve()).then(() => link(newLink, ...rest));
      lastBySeller.set(sellerId, result.then(ended, ended));
      return result;
    },
  };
};

/** Returns the functions with a create-user that queues the links of each seller. */
export const withQueuedLinks = (functions: Functions): Functions => {
  const createUser = endpoint(userRoutes['create-user'], handle, () => {
    const deps = bind();
    return { ...deps, users: { ...deps.users, ...queuedLinks(deps.users) } };
  });
  return { ...functions, endpoints: new Map([...functions.endpoints, ['create-user', createUser]]) };
};
