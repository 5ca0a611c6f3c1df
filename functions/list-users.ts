import type { Handle, Request } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { hashesFromEnv } from '#shared/secrets/keyed-hashes.ts';
import { pageOf, type UserPage, userReads } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';
import { placeInOrder } from '#shared/users/user-id.ts';

const route = userRoutes['list-users'];

interface LinkedPage {
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
  readonly filter?: UserFilter | undefined;
}

interface UserFilter {
  readonly name: 'phone' | 'external_id';
  readonly value: string;
}

/** RFC 8288, with references relative to the request. From past the end, prev is the last page. Empty if there are no pages. */
export const pageLinks = ({ page, pageSize, totalPages, filter }: LinkedPage): string => {
  const prefix = filter === undefined ? '' : `${filter.name}=${encodeURIComponent(filter.value)}&`;
  const targets = [
    { rel: 'first', to: 1 },
    { rel: 'prev', to: Math.min(page - 1, totalPages) },
    { rel: 'next', to: page + 1 },
    { rel: 'last', to: totalPages },
  ];
  return targets
    .filter(({ to }) => to >= 1 && to <= totalPages)
    .map(({ rel, to }) => `<?${prefix}page=${to}&page_size=${pageSize}>; rel="${rel}"`)
    .join(', ');
};

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { query, caller: { sellerId } },
  deps,
) => {
  const { after, page = 1, page_size: pageSize } = query;
  if (after !== undefined) {
    const found = await deps.users.listAfter(sellerId, placeInOrder(after) ?? 0, pageSize);
    const { users, total, nextAfter } = found;
    return { status: 200, body: { data: users, page_size: pageSize, total, next_after: nextAfter } };
  }
  const filter = filterOf(query);
  const found = await findUsers(sellerId, { page, pageSize, filter }, deps);
  const { total, totalPages } = found;
  // `after` is a place in the order of linking, in which the users of a phone are not.
  const hasNext = page < totalPages && filter === undefined;
  const nextAfter = hasNext ? (found.users.at(-1)?.id ?? null) : null;
  const links = pageLinks({ page, pageSize, totalPages, filter });
  return {
    status: 200,
    ...(links === '' ? {} : { headers: { Link: links } }),
    body: {
      data: found.users,
      page,
      page_size: pageSize,
      total,
      total_pages: totalPages,
      next_after: nextAfter,
    },
  };
};

const filterOf = ({ phone, external_id }: Request<typeof route>['query']): UserFilter | undefined => {
  if (phone !== undefined) return { name: 'phone', value: phone };
  return external_id === undefined ? undefined : { name: 'external_id', value: external_id };
};

const findUsers = async (
  sellerId: string,
  { page, pageSize, filter }: Omit<LinkedPage, 'totalPages'>,
  { users, hashes }: ReturnType<typeof build>,
): Promise<UserPage> => {
  if (filter === undefined) return users.listPage(sellerId, page, pageSize);
  const { name, value } = filter;
  if (name === 'phone') return users.findByPhone(sellerId, await hashes.phone(value), { page, pageSize });
  const user = await users.findByExternalId(sellerId, value);
  return pageOf(user === undefined ? [] : [user], { page, pageSize });
};

export const build = ({ table }: KeyedParts) => ({ users: userReads(table), hashes: hashesFromEnv() });

export const handler = keyedEndpoint(route, build, handle);
