import { interleave, median } from '#bench/harness.ts';

describe('median', () => {
  it.each([
    [3, [5, 3, 1, 2, 4]],
    [2, [4, 3, 2, 1]],
  ])('is %d of %j', (expected, values) => {
    expect(median(values)).toBe(expected);
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
