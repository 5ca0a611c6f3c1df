import { selfTimes } from '#bench/harness/cpu-profile.ts';
import { roundUp, svgOf } from '#bench/harness/plot.ts';

describe('roundUp', () => {
  it.each([
    [0.7, 1],
    [1.2, 2],
    [4.9, 5],
    [5.1, 10],
    [340, 500],
  ])('rounds %d up to %d', (value, expected) => {
    expect(roundUp(value)).toBe(expected);
  });
});

describe('svgOf', () => {
  const svg = svgOf({
    title: 'Response time',
    unit: 'ms',
    points: ['1,000', '1,000,000'],
    series: { 'page 1': [2, 1], 'last page': [2, 2] },
  });

  it('draws each series as a line from the first to the last point', () => {
    expect([...svg.matchAll(/<polyline points="([^"]+)"/g)].map(([, points]) => points)).toEqual([
      '64.0,44.0 530.0,162.0',
      '64.0,44.0 530.0,44.0',
    ]);
  });

  it('names the series and the points, and has colors for dark pages', () => {
    expect(svg).toContain('>last page</text>');
    expect(svg).toContain('>1,000,000</text>');
    expect(svg).toContain('prefers-color-scheme:dark');
  });
});

describe('selfTimes', () => {
  const node = (id: number, functionName: string, url = '') => ({
    id,
    callFrame: { functionName, url, lineNumber: 0 },
  });

  it('adds the time of each place, the largest first, without idle time', () => {
    const profile = {
      nodes: [node(1, '(idle)'), node(2, 'parse', 'file:///index.mjs'), node(3, '', 'node:tls')],
      samples: [1, 2, 3, 2],
      timeDeltas: [500, 10, 30, 60],
    };
    expect(selfTimes(profile)).toEqual([
      { place: 'parse (bundle:1)', share: 0.7 },
      { place: '(anonymous) (node:tls)', share: 0.3 },
    ]);
  });
});
