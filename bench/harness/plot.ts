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
const COLORS = ['#3b82d6', '#d9822b', '#2f9e62', '#b05cc8', '#c94f4f', '#7a7f87'] as const;
const GRID_LINES = 4;

/** Returns 1, 2 or 5 times a power of ten that is at least `value`. */
export const roundUp = (value: number): number => {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10) * power;
};

/** Draws lines as an SVG that can be read on light and on dark pages. The scale of the values begins at 0. */
export const svgOf = ({ title, unit, points, series }: Plot): string => {
  const top = roundUp(Math.max(...Object.values(series).flat()));
  const x = (index: number) => LEFT + (index / Math.max(1, points.length - 1)) * (WIDTH - LEFT - RIGHT);
  const y = (value: number) => HEIGHT - BOTTOM - (value / top) * (HEIGHT - BOTTOM - TOP);
  const text = (at: string, content: string) => `<text ${at}>${content}</text>`;
  const grid = Array.from({ length: GRID_LINES + 1 }, (_, line) => (top * line) / GRID_LINES).flatMap(
    (value) => [
      `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" class="grid"/>`,
      text(
        `x="${LEFT - 8}" y="${(y(value) + 4).toFixed(1)}" text-anchor="end"`,
        `${Number(value.toPrecision(3))}`,
      ),
    ],
  );
  const lines = Object.entries(series).flatMap(([name, values], index) => {
    const color = COLORS[index % COLORS.length];
    const path = values.map((value, point) => `${x(point).toFixed(1)},${y(value).toFixed(1)}`).join(' ');
    const legendY = TOP + 8 + index * 22;
    return [
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2.5"/>`,
      `<circle cx="${WIDTH - RIGHT + 24}" cy="${legendY - 4}" r="5" fill="${color}"/>`,
      text(`x="${WIDTH - RIGHT + 36}" y="${legendY}"`, name),
    ];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">`,
    '<style>text{font-family:system-ui,sans-serif;font-size:13px;fill:#24292f}.grid{stroke:#8884}',
    '@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>',
    text(`x="${LEFT}" y="24" font-weight="bold"`, `${title} (${unit})`),
    ...grid,
    ...points.map((point, index) =>
      text(`x="${x(index).toFixed(1)}" y="${HEIGHT - 14}" text-anchor="middle"`, point),
    ),
    ...lines,
    '</svg>\n',
  ].join('\n');
};
