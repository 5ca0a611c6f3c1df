/** The geometry of the chart of a key's use, in units of the SVG. Pure functions; `chart-svg.js` draws them. */
import { dayText, hourText, refusedIn, type UsageHour } from './key-texts.ts';

/** The chart shows seven times 24 hours. The last one is the current hour. */
export const DAYS = 7;
const HOURS = DAYS * 24;
const HOUR_MS = 3_600_000;

const HOUR_WIDTH = 4;
const TOP = 8;
const PLOT_HEIGHT = 160;
/** A count that is not 0 stays visible beside a much higher one. */
const LEAST_HEIGHT = 2;

/** The bottom and the right end of the bars. The labels of the axes are beyond them. */
export const BOTTOM = TOP + PLOT_HEIGHT;
export const RIGHT = HOURS * HOUR_WIDTH;

/** The bar of an hour: its refused requests above its others. Heights are 0 where there are none. */
interface Bar {
  readonly x: number;
  readonly width: number;
  readonly otherHeight: number;
  readonly refusedHeight: number;
  readonly text: string;
}

/** A label of an axis: an hour has its `x`, a number of requests its `y`. */
interface HourLabel {
  readonly x: number;
  readonly hour: string;
  /** The day that begins here, or the part of a day at the left end. */
  readonly day: string | undefined;
}

interface CountLabel {
  readonly y: number;
  readonly count: number;
}

interface Chart {
  readonly bars: readonly Bar[];
  readonly hourLabels: readonly HourLabel[];
  readonly countLabels: readonly CountLabel[];
}

const AXIS_ENDS = [10, 12, 16, 20, 30, 40, 60, 80, 100];

/** Returns a round number that is not far above the count. Half of it is an integer too. */
export const axisEnd = (count: number): number => {
  const unit = 10 ** Math.floor(Math.log10(Math.max(count, 1))) / 10;
  return AXIS_ENDS.map((end) => end * unit).find((end) => end >= count && end % 2 === 0) as number;
};

/** Returns the total height of an hour's bar. Its refused requests are among its requests, unless the hour ended between the two counts. */
const totalOf = (hour: UsageHour): number => Math.max(hour.requests, refusedIn(hour));

const barsOf = (hours: readonly UsageHour[], firstMs: number, end: number): readonly Bar[] => {
  const heightOf = (count: number): number =>
    count === 0 ? 0 : Math.max(LEAST_HEIGHT, (count / end) * PLOT_HEIGHT);
  return hours.map((hour) => ({
    x: ((Date.parse(hour.hour) - firstMs) / HOUR_MS) * HOUR_WIDTH,
    width: HOUR_WIDTH,
    otherHeight: heightOf(totalOf(hour) - refusedIn(hour)),
    refusedHeight: heightOf(refusedIn(hour)),
    text: hourText(hour),
  }));
};

/** Returns a label every six hours, with the day at its first hour. Less than half a day at the left end has no space for its name. */
const hourLabelsOf = (firstMs: number): readonly HourLabel[] =>
  Array.from({ length: HOURS }, (_, index) => ({ index, time: firstMs + index * HOUR_MS }))
    .map(({ index, time }) => ({ x: index * HOUR_WIDTH, hour: new Date(time).getUTCHours(), time }))
    .filter(({ hour }) => hour % 6 === 0)
    .map(({ x, hour, time }, index) => ({
      x,
      hour: String(hour).padStart(2, '0'),
      day: hour === 0 || (index === 0 && hour <= 12) ? dayText(time).replace(/ \w+$/, '') : undefined,
    }));

/** Returns the chart of the hours up to `nowMs`, the time of the response. Hours without a count have no bar. */
export const chartOf = (hours: readonly UsageHour[], nowMs: number): Chart => {
  const lastMs = Math.max(
    Math.floor(nowMs / HOUR_MS) * HOUR_MS,
    ...hours.map(({ hour }) => Date.parse(hour)),
  );
  const firstMs = lastMs - (HOURS - 1) * HOUR_MS;
  const end = axisEnd(Math.max(...hours.map(totalOf)));
  const shown = hours.filter(({ hour }) => Date.parse(hour) >= firstMs);
  return {
    bars: barsOf(shown, firstMs, end),
    hourLabels: hourLabelsOf(firstMs),
    countLabels: [end, end / 2, 0].map((count) => ({ y: BOTTOM - (count / end) * PLOT_HEIGHT, count })),
  };
};
