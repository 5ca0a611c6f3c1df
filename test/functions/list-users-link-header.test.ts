import fc from 'fast-check';
import { pageLinks } from '#functions/list-users.ts';

/** The targets of a Link header: rel -> [page, page_size]. */
const targetsOf = (page: number, pageSize: number, totalPages: number) =>
  Object.fromEntries(
    [
      ...pageLinks({ page, pageSize, totalPages }).matchAll(
        /<\?page=([0-9]+)&page_size=([0-9]+)>; rel="([a-z]+)"/g,
      ),
    ].map(([, to, size, rel]) => [rel, [Number(to), Number(size)]]),
  );

describe('pageLinks', () => {
  it('writes references relative to the request (RFC 8288)', () => {
    expect(pageLinks({ page: 2, pageSize: 20, totalPages: 3 })).toBe(
      '<?page=1&page_size=20>; rel="first", <?page=1&page_size=20>; rel="prev", ' +
        '<?page=3&page_size=20>; rel="next", <?page=3&page_size=20>; rel="last"',
    );
  });

  it('keeps the filter in every reference, percent-encoded', () => {
    expect(
      pageLinks({ page: 1, pageSize: 1, totalPages: 2, filter: { name: 'phone', value: '+989990000001' } }),
    ).toBe(
      '<?phone=%2B989990000001&page=1&page_size=1>; rel="first", ' +
        '<?phone=%2B989990000001&page=2&page_size=1>; rel="next", ' +
        '<?phone=%2B989990000001&page=2&page_size=1>; rel="last"',
    );
  });

  it.each([
    ['the first page', 1, { first: [1, 20], next: [2, 20], last: [3, 20] }],
    ['the last page', 3, { first: [1, 20], prev: [2, 20], last: [3, 20] }],
    ['the page after the last', 4, { first: [1, 20], prev: [3, 20], last: [3, 20] }],
    ['a page far past the end', Number.MAX_SAFE_INTEGER, { first: [1, 20], prev: [3, 20], last: [3, 20] }],
  ])('names only pages that exist on %s', (_case, page, targets) => {
    expect(targetsOf(page, 20, 3)).toEqual(targets);
  });

  it('is empty if there are no pages', () => {
    expect(pageLinks({ page: 1, pageSize: 20, totalPages: 0 })).toBe('');
    expect(pageLinks({ page: 5, pageSize: 20, totalPages: 0 })).toBe('');
  });

  it('leads through every page once, from the first to the last and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 100 }), (totalPages, size) => {
        const pages = Array.from({ length: totalPages }, (_, index) => index + 1);
        const follow = (rel: string) =>
          pages.flatMap((page) => targetsOf(page, size, totalPages)[rel]?.[0] ?? []);
        expect(follow('next')).toEqual(pages.slice(1));
        expect(follow('prev')).toEqual(pages.slice(0, -1));
      }),
    );
  });
});
