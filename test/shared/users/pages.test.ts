import fc from 'fast-check';
import { pageLinks, totalPages } from '#shared/users/pages.ts';

const targetsOf = (page: number, pageSize: number, total: number) =>
  Object.fromEntries(
    [
      ...pageLinks(page, pageSize, total).matchAll(/<\?page=([0-9]+)&page_size=([0-9]+)>; rel="([a-z]+)"/g),
    ].map(([, to, size, rel]) => [rel, [Number(to), Number(size)]]),
  );

describe('totalPages', () => {
  it.each([
    [0, 20, 0],
    [1, 20, 1],
    [20, 20, 1],
    [21, 20, 2],
    [7, 1, 7],
  ])('of %i users, %i a page, is %i', (total, pageSize, pages) => {
    expect(totalPages(total, pageSize)).toBe(pages);
  });
});

describe('pageLinks', () => {
  it('writes references relative to the request (RFC 8288)', () => {
    expect(pageLinks(2, 20, 60)).toBe(
      '<?page=1&page_size=20>; rel="first", <?page=1&page_size=20>; rel="prev", ' +
        '<?page=3&page_size=20>; rel="next", <?page=3&page_size=20>; rel="last"',
    );
  });

  it.each([
    ['on the first page', 1, { first: [1, 20], next: [2, 20], last: [3, 20] }],
    ['on the last page', 3, { first: [1, 20], prev: [2, 20], last: [3, 20] }],
    ['just past the end', 4, { first: [1, 20], prev: [3, 20], last: [3, 20] }],
    ['far past the end', Number.MAX_SAFE_INTEGER, { first: [1, 20], prev: [3, 20], last: [3, 20] }],
  ])('names the pages that exist, %s', (_case, page, targets) => {
    expect(targetsOf(page, 20, 60)).toEqual(targets);
  });

  it('is empty if there are no users', () => {
    expect(pageLinks(1, 20, 0)).toBe('');
    expect(pageLinks(5, 20, 0)).toBe('');
  });

  it('leads through every page once, from first to last and back', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 100 }), (total, pageSize) => {
        const pages = Array.from({ length: totalPages(total, pageSize) }, (_, index) => index + 1);
        const follow = (rel: string) =>
          pages.flatMap((page) => targetsOf(page, pageSize, total)[rel]?.[0] ?? []);
        expect(follow('next')).toEqual(pages.slice(1));
        expect(follow('prev')).toEqual(pages.slice(0, -1));
      }),
    );
  });
});
