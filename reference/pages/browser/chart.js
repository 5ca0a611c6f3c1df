/** The chart of a key's use: a bar for each of the last 168 hours, the refused requests on top, and a line for each day. */

const HOUR_MS = 3_600_000;
const HOURS = 168;
const WIDTH = 4;
const HEIGHT = 160;
const RIGHT = HOURS * WIDTH;
/** The room for the name of a day that has just begun. */
const MARGIN = 84;

/** Returns `1,234`. */
export const numberText = (number) => number.toLocaleString('en');

/** Returns `Sat 21 Nov, 08:00` in UTC. The form of toUTCString is standard, those of toLocaleString differ. */
export const timeText = (time) => {
  const [weekday, day, month, , clock] = new Date(time).toUTCString().split(/,? /);
  return `${weekday} ${Number(day)} ${month}, ${clock.slice(0, 5)}`;
};

const rect = (name, x, y, height) =>
  `<rect class="${name}" x="${x}" y="${y}" width="${WIDTH}" height="${height}"/>`;

/** Returns a line with a text beside its end. */
const line = ([x1, y1], [x2, y2], [x, y], text) =>
  `<line x1="${x1}" x2="${x2}" y1="${y1}" y2="${y2}"/><text x="${x}" y="${y}">${text}</text>`;

/** Returns the chart as SVG. Every text in it is a number or a date. */
export const chartOf = (hours, nowMs) => {
  const first = Math.floor(nowMs / HOUR_MS) - HOURS + 1;
  const highest = Math.max(...hours.map(({ requests }) => requests), 1);
  const xOf = (timeMs) => (timeMs / HOUR_MS - first) * WIDTH;
  // A count that is not 0 stays visible beside a much higher one.
  const heightOf = (count) => count && Math.max(2, (count / highest) * HEIGHT);

  const bars = hours.map(({ hour, requests, refused_links, failed_checks, failed_verifies }) => {
    const x = xOf(Date.parse(hour));
    const count = refused_links + failed_checks + failed_verifies;
    const refused = heightOf(Math.min(count, requests));
    const other = heightOf(requests - Math.min(count, requests));
    const text = `${timeText(hour)} UTC: ${numberText(requests)} requests, ${numberText(count)} refused`;
    return `<g class="hour"><title>${text}</title>${rect('space', x, 0, HEIGHT)}${rect('other', x, HEIGHT - other, other)}${rect('refused', x, HEIGHT - other - refused, refused)}</g>`;
  });
  const days = Array.from({ length: HOURS }, (_, index) => (first + index) * HOUR_MS)
    .filter((time) => time % (24 * HOUR_MS) === 0)
    .map((time) => {
      const x = xOf(time);
      return line([x, 0], [x, HEIGHT + 6], [x + 4, HEIGHT + 18], timeText(time).split(',')[0]);
    });
  const counts = [
    line([0, HEIGHT], [RIGHT, HEIGHT], [RIGHT + 6, HEIGHT + 8], '0'),
    line([0, 0], [RIGHT, 0], [RIGHT + 6, 8], numberText(highest)),
  ];
  return `<svg viewBox="0 -4 ${RIGHT + MARGIN} ${HEIGHT + 28}" role="img" aria-label="Requests per hour in the last seven days">${[...counts, ...days, ...bars].join('')}</svg>`;
};
