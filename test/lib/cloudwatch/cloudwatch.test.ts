import { type Evaluation, type State, stateAfter } from './alarm-state.ts';
import { evaluate } from './metric-math.ts';

/** The values of an expression over the points of its metrics. */
const over = (expression: string, metrics: Readonly<Record<string, readonly (number | undefined)[]>>) => {
  const length = Math.max(...Object.values(metrics).map((points) => points.length));
  return Array.from({ length }, (_, index) =>
    evaluate(
      expression,
      Object.fromEntries(Object.entries(metrics).map(([name, points]) => [name, points[index]])),
    ),
  );
};

const NONE = undefined;

describe('metric math has the results of the examples of CloudWatch', () => {
  const metric1 = [30, 20, 0, 0];
  const metric2 = [20, NONE, 20, NONE];

  test.each([
    ['metric1 < metric2', [0, 0, 1, 0]],
    ['metric1 >= 30', [1, 0, 0, 0]],
    ['metric1 > 15 AND metric2 > 15', [1, 0, 0, 0]],
  ])('%s', (expression, expected) => {
    expect(over(expression, { metric1, metric2 })).toEqual(expected);
  });

  test.each([
    ['IF(metric1, metric2, metric3)', [30, 0, 20, NONE, NONE]],
    ['IF(metric1, 5, metric3)', [5, 5, 20, NONE, NONE]],
    ['IF(metric1, metric2, 5)', [30, 0, 5, 5, NONE]],
  ])('%s', (expression, expected) => {
    const metrics = {
      metric1: [1, 1, 0, 0, NONE],
      metric2: [30, NONE, 0, 0, 30],
      metric3: [0, 0, 20, NONE, 20],
    };
    expect(over(expression, metrics)).toEqual(expected);
  });
});

describe('metric math', () => {
  const missing = { a: [4, NONE, NONE], b: [2, 3, NONE] };

  test('treats a missing value as 0 beside the value of another series, and has none without any', () => {
    expect(over('a - b', missing)).toEqual([2, -3, NONE]);
    expect(over('a / b', { a: [4, 4, NONE], b: [2, NONE, 2] })).toEqual([2, NONE, 0]);
  });

  test('does not treat a missing value as 0 beside a number', () => {
    expect(over('a == 0', missing)).toEqual([0, NONE, NONE]);
    expect(over('a * 2', missing)).toEqual([8, NONE, NONE]);
  });

  test('multiplies before it adds, adds before it compares, and compares before AND and OR', () => {
    const metrics = { a: [2], b: [3], c: [4] };
    expect(over('a + b * c >= 14 AND c - b - a < 0 OR a == 0', metrics)).toEqual([1]);
    expect(over('(a + b) * c / 2', metrics)).toEqual([10]);
  });

  test.each(['FILL(a, 0)', 'a +', '(a', 'a b', 'unknown + a'])('throws for %s', (expression) => {
    expect(() => evaluate(expression, { a: 1, b: 2 })).toThrow();
  });
});

describe('the state of an alarm', () => {
  /** `0 - X`: a point within the threshold, a missing one, a breach. */
  const stateOf = (points: string, evaluation: Evaluation, before: State) =>
    stateAfter(
      points.split(' ').map((point) => (point === '-' ? undefined : point === 'X')),
      evaluation,
      before,
    );

  // The states of the tables in the user guide, for missing data that is ignored (from OK and from ALARM), breaching, and not breaching.
  test.each([
    ['0 - X - X', 3, ['OK', 'OK', 'OK', 'OK']],
    ['0 - - - -', 3, ['OK', 'OK', 'OK', 'OK']],
    ['- - - - -', 3, ['OK', 'ALARM', 'ALARM', 'OK']],
    ['0 X X - X', 3, ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['- - - - X', 3, ['OK', 'ALARM', 'ALARM', 'OK']],
    ['0 - X - X', 2, ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['0 0 X 0 X', 2, ['ALARM', 'ALARM', 'ALARM', 'ALARM']],
    ['0 - X - -', 2, ['OK', 'OK', 'ALARM', 'OK']],
    ['- - - - 0', 2, ['OK', 'OK', 'ALARM', 'OK']],
    ['- - - - X', 2, ['OK', 'ALARM', 'ALARM', 'OK']],
  ] as const)('after %s, %i of 3, is that of the table of CloudWatch', (points, breaching, expected) => {
    const of = (missingData: Evaluation['missingData'], before: State = 'OK') =>
      stateOf(points, { breaching, evaluated: 3, missingData }, before);
    expect([of('ignore'), of('ignore', 'ALARM'), of('breaching'), of('notBreaching')]).toEqual(expected);
  });
});
