/** How many pages `total` users fill: 0 for none. */
export const totalPages = (total: number, pageSize: number): number => Math.ceil(total / pageSize);

/**
 * The Link header of a page (RFC 8288), with references relative to the request: first, prev, next and last where they exist. From
 * past the end, prev is the last page. Empty if there are no users.
 */
export const pageLinks = (page: number, pageSize: number, total: number): string => {
  const last = totalPages(total, pageSize);
  const targets = [
    { rel: 'first', to: 1 },
    { rel: 'prev', to: Math.min(page - 1, last) },
    { rel: 'next', to: page + 1 },
    { rel: 'last', to: last },
  ];
  return targets
    .filter(({ to }) => to >= 1 && to <= last)
    .map(({ rel, to }) => `<?page=${to}&page_size=${pageSize}>; rel="${rel}"`)
    .join(', ');
};
