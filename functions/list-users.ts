import { listUsersDeps } from '#shared/deps.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import type { UserReads } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { pageLinks, viewOf } from '#shared/users/view.ts';

const route = userRoutes['list-users'];

export interface ListUsersDeps extends EndpointDeps {
  readonly users: Pick<UserReads, 'listPage' | 'findByPhone'>;
  readonly hashes: Pick<KeyedHashes, 'phone'>;
}

/** Returns a page of the caller's users and its Link header. */
export const handle = async (
  { query, caller: { sellerId } }: Request<typeof route>,
  { users, hashes }: ListUsersDeps,
): Promise<ResponseOf<typeof route>> => {
  const { phone, page, page_size: pageSize } = query;
  const found =
    phone === undefined
      ? await users.listPage(sellerId, page, pageSize)
      : await users.findByPhone(sellerId, await hashes.phone(phone), { page, pageSize });
  const { total, totalPages } = found;
  const links = pageLinks({ page, pageSize, totalPages, phone });
  return {
    status: 200,
    headers: links === '' ? {} : { Link: links },
    body: { data: found.users.map(viewOf), page, page_size: pageSize, total, total_pages: totalPages },
  };
};

export const handler = endpoint(route, handle, listUsersDeps);
