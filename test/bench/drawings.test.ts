import { shareOfParts } from '#bench/harness/cpu-profile.ts';
import { roundUp, svgOf } from '#bench/harness/plot.ts';

describe('roundUp', () => {
  it.each([
    [0.7, 0.8],
    [1.2, 2],
    [3.9, 4],
    [4.1, 6],
    [9.1, 10],
    [340, 400],
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

describe('shareOfParts', () => {
  const node = (id: number, functionName: string, url: string, columnNumber = 0) => ({
    id,
    callFrame: { functionName, url, lineNumber: 0, columnNumber },
  });
  const sources = ['../node_modules/@smithy/core/dist-es/a.js', '../shared/http/endpoint.ts'];

  it('adds the time of each package, of Node and of this project, the largest first, without idle time', () => {
    const profile = {
      nodes: [
        node(1, '(idle)', ''),
        node(2, 'send', 'file:///index.mjs', 0),
        node(3, 'call', 'file:///index.mjs', 1),
        node(4, 'write', 'node:internal/crypto/hash'),
        node(5, 'writev', ''),
      ],
      samples: [1, 2, 3, 4, 5, 2],
      timeDeltas: [500, 10, 20, 15, 5, 50],
    };
    expect(shareOfParts(profile, (_line, column) => sources[column])).toEqual([
      { part: '@smithy/core', share: 0.6 },
      { part: 'this project', share: 0.2 },
      { part: 'node:crypto', share: 0.15 },
      { part: 'native writev', share: 0.05 },
    ]);
  });
});
