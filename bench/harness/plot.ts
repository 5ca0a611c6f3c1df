/** Values over the same points. */
export interface Plot {
  readonly title: string;
  readonly unit: string;
  /** The labels of the points. */
  readonly points: readonly string[];
  /** One value per point. */
  readonly series: Readonly<Record<string, readonly number[]>>;
}

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [720, 320, 64, 190, 44, 40];
const COLORS = ['#3b82d6', '#d9822b', '#2f9e62', '#b05cc8'] as const;
const GRID = [0, 0.25, 0.5, 0.75, 1] as const;

/** Returns a round number of at least `value`, whose quarters are round too: 1, 2, 4, 6 or 8 times a power of ten. */
export const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 4, 6, 8].find((step) => step * power >= value) ?? 10) * power;
};

/** Draws lines, four at most, as an SVG that can be read on light and on dark pages. The scale of the values begins at 0. */
export const svgOf = ({ title, unit, points, series }: Plot): string => {
  const top = roundUp(Math.max(...Object.values(series).flat()));
  const [right, bottom] = [WIDTH - RIGHT, HEIGHT - BOTTOM];
  const x = (index: number) => (LEFT + (index / (points.length - 1)) * (right - LEFT)).toFixed(1);
  const y = (value: number) => (bottom - (value / top) * (bottom - TOP)).toFixed(1);
  const text = (at: string, content: string | number) => `<text ${at}>${content}</text>`;
  const grid = GRID.flatMap((share) => [
    `<path d="M${LEFT} ${y(share * top)}H${right}" class="grid"/>`,
    text(
      `x="${LEFT - 8}" y="${y(share * top)}" dy="4" text-anchor="end"`,
      Number((share * top).toPrecision(3)),
    ),
  ]);
  const lines = Object.entries(series).flatMap(([name, values], index) => {
    const path = values.map((value, point) => `${x(point)},${y(value)}`).join(' ');
    const legendY = TOP + 8 + index * 22;
    return [
      `<polyline points="${path}" fill="none" stroke="${COLORS[index]}" stroke-width="2.5"/>`,
      `<circle cx="${right + 24}" cy="${legendY - 4}" r="5" fill="${COLORS[index]}"/>`,
      text(`x="${right + 36}" y="${legendY}"`, name),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    '<style>text{font-family:system-ui,sans-serif;font-size:13px;fill:#24292f}.grid{stroke:#8884}',
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>',
    text(`x="${LEFT}" y="24" font-weight="bold"`, `${title} (${unit})`),
    ...grid,
    ...points.map((point, index) => text(`x="${x(index)}" y="${HEIGHT - 14}" text-anchor="middle"`, point)),
    ...lines,
    '</svg>\n',
  ].join('\n');
};
