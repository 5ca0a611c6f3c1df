import { systemClock } from '#shared/clock.ts';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import { rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { hashesFromEnv } from '#shared/secrets/from-env.ts';
import type { KeyedHashes } from '#shared/secrets/keyed-hashes.ts';
import { tableFromEnv } from '#shared/table/client.ts';
import { type UserReads, userReads } from '#shared/users/read-users.ts';
import { userRoutes } from '#shared/users/routes.ts';

const route = userRoutes['list-users'];

export interface ListUsersDeps extends EndpointDeps {
  readonly users: Pick<UserReads, 'listPage' | 'findByPhone'>;
  readonly hashes: Pick<KeyedHashes, 'phone'>;
}

/** A page of a list, as the Link header describes it. `phone`: E.164, if the list was asked for by phone. */
interface LinkedPage {
  readonly page: number;
  readonly pageSize: number;
  readonly totalPages: number;
  readonly phone?: string | undefined;
}

/**
 * Returns the Link header of a page (RFC 8288), with references relative to the request: first, prev, next and last where they
 * exist. From past the end, prev is the last page. Empty if there are no pages.
 */
export const pageLinks = ({ page, pageSize, totalPages, phone }: LinkedPage): string => {
  const filter = phone === undefined ? '' : `phone=${encodeURIComponent(phone)}&`;
  const targets = [
    { rel: 'first', to: 1 },
    { rel: 'prev', to: Math.min(page - 1, totalPages) },
    { rel: 'next', to: page + 1 },
    { rel: 'last', to: totalPages },
  ];
  return targets
    .filter(({ to }) => to >= 1 && to <= totalPages)
    .map(({ rel, to }) => `<?${filter}page=${to}&page_size=${pageSize}>; rel="${rel}"`)
    .join(', ');
};

/** Returns a page of the caller's users and its Link header. */
export const handle: Handle<typeof route, ListUsersDeps> = async (
  { query, caller: { sellerId } },
  { users, hashes },
) => {
  const { phone, page, page_size: pageSize } = query;
  const found =
    phone === undefined
      ? await users.listPage(sellerId, page, pageSize)
      : await users.findByPhone(sellerId, await hashes.phone(phone), { page, pageSize });
  const { total, totalPages } = found;
  const links = pageLinks({ page, pageSize, totalPages, phone });
  return {
    status: 200,
    ...(links === '' ? {} : { headers: { Link: links } }),
    body: { data: found.users, page, page_size: pageSize, total, total_pages: totalPages },
  };
};

/** Builds the dependencies from the environment. */
export const bind = (): ListUsersDeps => {
  const table = tableFromEnv();
  return {
    clock: systemClock,
    rateLimiter: rateLimiterFromEnv(table),
    users: userReads(table),
    hashes: hashesFromEnv(),
  };
};

export const handler = endpoint(route, handle, bind);
