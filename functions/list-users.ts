import { listUsersDeps } from '#shared/deps.ts';
import { endpoint, type Request, type ResponseOf } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { routes } from '#shared/routes.ts';
import { pageLinks, totalPages } from '#shared/users/pages.ts';
import type { UserStore } from '#shared/users/store.ts';
import { viewOf } from '#shared/users/view.ts';

const route = routes['list-users'];

export interface ListUsersDeps extends EndpointDeps {
  readonly users: Pick<UserStore, 'listPage'>;
}

export const handle = async (
  { query, caller }: Request<typeof route>,
  { users }: ListUsersDeps,
): Promise<ResponseOf<typeof route>> => {
  const { page, page_size } = query;
  const { users: found, total } = await users.listPage(caller.sellerId, page, page_size);
  const links = pageLinks(page, page_size, total);
  return {
    status: 200,
    headers: links === '' ? {} : { Link: links },
    body: { data: found.map(viewOf), page, page_size, total, total_pages: totalPages(total, page_size) },
  };
};

export const handler = endpoint(route, handle, listUsersDeps);
