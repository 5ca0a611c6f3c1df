import { barChart } from '#bin/admin/table.ts';

describe('barChart', () => {
  it('draws bars in proportion to the largest value, to an eighth of a character', () => {
    expect(
      barChart([
        ['a', 8000],
        ['b', 4000],
        ['c', 1],
        ['d', 0],
        ['e', 100],
      ]),
    ).toBe(
      [
        `a  8,000  ${'█'.repeat(40)}`,
        `b  4,000  ${'█'.repeat(20)}`,
        'c      1',
        'd      0',
        'e    100  ▌',
        '',
      ].join('\n'),
    );
  });

  it('draws no bars if all values are 0', () => {
    expect(
      barChart([
        ['a', 0],
        ['b', 0],
      ]),
    ).toBe('a  0\nb  0\n');
  });
});
