import { BOTTOM, RIGHT } from './chart.ts';
import { numberText } from './key-texts.ts';

const WIDTH = RIGHT + 52;
const HEIGHT = BOTTOM + 40;

/** Returns a new element of SVG. */
const shape = (name, attributes, ...children) => {
  const created = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value);
  created.append(...children);
  return created;
};

const rectangle = (className, { x, width }, y, height) =>
  shape('rect', { class: className, x, y, width, height });

/** Returns the bar of an hour. All of its height shows the tooltip. */
const barOf = (bar) => {
  const { otherHeight, refusedHeight } = bar;
  const top = BOTTOM - otherHeight;
  return shape(
    'g',
    { class: 'hour' },
    shape('title', {}, bar.text),
    rectangle('space', bar, 0, BOTTOM),
    rectangle('other', bar, top, otherHeight),
    rectangle('refused', bar, top - refusedHeight, refusedHeight),
  );
};

const hourLabel = ({ x, hour, day }) => [
  shape('line', {
    class: hour === '00' ? 'day' : '',
    x1: x,
    x2: x,
    y1: hour === '00' ? 0 : BOTTOM,
    y2: BOTTOM + 4,
  }),
  shape('text', { x, y: BOTTOM + 18 }, hour),
  ...(day === undefined ? [] : [shape('text', { x, y: BOTTOM + 34, class: 'day' }, day)]),
];

const countLabel = ({ y, count }) => [
  shape('line', { x1: 0, x2: RIGHT, y1: y, y2: y }),
  shape('text', { x: RIGHT + 6, y: y + 4 }, numberText(count)),
];

/** Returns the chart as an image with a name and a description. */
export const chartImage = ({ bars, hourLabels, countLabels }, description) =>
  shape(
    'svg',
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-labelledby': 'chart-title chart-description' },
    shape('title', { id: 'chart-title' }, 'Requests per hour in the last seven days'),
    shape('desc', { id: 'chart-description' }, description),
    ...countLabels.flatMap(countLabel),
    ...hourLabels.flatMap(hourLabel),
    ...bars.map(barOf),
  );
