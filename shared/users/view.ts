import { maskNationalId } from './national-id.ts';
import type { UserView } from './schema.ts';
import type { User } from './user-item.ts';

/** A user as responses show it. */
export const viewOf = (user: User): UserView => ({
  id: user.id,
  national_id: maskNationalId(user.nationalIdLastFour),
  birth_date: user.birthDate,
  phone: user.phone,
  display_name: user.displayName,
  created_at: user.createdAt,
});

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
