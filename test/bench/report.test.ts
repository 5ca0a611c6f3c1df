import { interleave, markdownTable, median, ratio } from '#bench/report.ts';

describe('median', () => {
  it.each([
    [3, [5, 3, 1, 2, 4]],
    [2, [4, 3, 2, 1]],
  ])('is %d of %j', (expected, values) => {
    expect(median(values)).toBe(expected);
  });
});

describe('ratio', () => {
  it('has two decimals', () => {
    expect(ratio(2, 3)).toBe('0.67');
  });
});

describe('interleave', () => {
  it('calls the subjects in turns and returns the results of each', async () => {
    const calls: string[] = [];
    const results = await interleave(['a', 'b'], 2, async (subject) => calls.push(subject));
    expect(calls).toEqual(['a', 'b', 'a', 'b']);
    expect([...results]).toEqual([
      ['a', [1, 3]],
      ['b', [2, 4]],
    ]);
  });
});

describe('markdownTable', () => {
  it('aligns text to the left and numbers to the right', () => {
    const rows = [
      ['operation', 'ms'],
      ['list', '12'],
    ];
    expect(markdownTable(rows)).toBe(
      ['| operation |  ms |', '|-----------|----:|', '| list      |  12 |'].join('\n'),
    );
  });
});
