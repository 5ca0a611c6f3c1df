/** The chart of a key's use: a bar for each of the last 168 hours, the refused requests on top, and a line for each day. */
import { numberText, refusedIn, timeText } from './key-texts.js';

const HOUR_MS = 3_600_000;
const HOURS = 168;
const WIDTH = 4;
const HEIGHT = 160;

/** Returns the chart as SVG. Every text in it is a number or a date. */
export const chartOf = (hours, nowMs) => {
  const first = Math.floor(nowMs / HOUR_MS) - HOURS + 1;
  const highest = Math.max(...hours.map(({ requests }) => requests), 1);
  const xOf = (timeMs) => (timeMs / HOUR_MS - first) * WIDTH;
  // A count that is not 0 stays visible beside a much higher one.
  const heightOf = (count) => count && Math.max(2, (count / highest) * HEIGHT);
  const rect = (name, x, y, height) =>
    `<rect class="${name}" x="${x}" y="${y}" width="${WIDTH}" height="${height}"/>`;

  const bars = hours.map((hour) => {
    const x = xOf(Date.parse(hour.hour));
    const refused = heightOf(Math.min(refusedIn(hour), hour.requests));
    const other = heightOf(hour.requests - Math.min(refusedIn(hour), hour.requests));
    const text = `${timeText(hour.hour)} UTC: ${numberText(hour.requests)} requests, ${numberText(refusedIn(hour))} refused`;
    return `<g class="hour"><title>${text}</title>${rect('space', x, 0, HEIGHT)}${rect('other', x, HEIGHT - other, other)}${rect('refused', x, HEIGHT - other - refused, refused)}</g>`;
  });
  const days = Array.from({ length: HOURS }, (_, index) => (first + index) * HOUR_MS)
    .filter((time) => time % (24 * HOUR_MS) === 0)
    .map(
      (time) =>
        `<line x1="${xOf(time)}" x2="${xOf(time)}" y1="0" y2="${HEIGHT + 6}"/><text x="${xOf(time) + 4}" y="${HEIGHT + 18}">${timeText(time).split(',')[0]}</text>`,
    );
  const right = HOURS * WIDTH;
  const counts = [0, highest].map(
    (count) =>
      `<line x1="0" x2="${right}" y1="${HEIGHT - heightOf(count)}" y2="${HEIGHT - heightOf(count)}"/><text x="${right + 6}" y="${HEIGHT - heightOf(count) + 8}">${numberText(count)}</text>`,
  );
  return `<svg viewBox="0 -4 ${right + 52} ${HEIGHT + 28}" role="img" aria-label="Requests per hour in the last seven days">${[...counts, ...days, ...bars].join('')}</svg>`;
};
