/**
 * Evaluates an expression of CloudWatch metric math at one point in time, with the operators that our alarms use: + - * /, comparisons, AND, OR
 * and IF. The rules for missing values are those of "Using metric math" (CloudWatch user guide). Any other function throws: FILL, for example,
 * replaces the value of a period whose data has not arrived yet.
 */

/** A number in an expression, or the value of a series at a point in time: undefined if it has none. */
type Operand =
  | { readonly is: 'number'; readonly value: number }
  | { readonly is: 'series'; readonly value: number | undefined };

type Values = Readonly<Record<string, number | undefined>>;

const series = (value: number | undefined): Operand => ({ is: 'series', value });

const OPERATORS: Readonly<Record<string, (left: number, right: number) => number>> = {
  '+': (left, right) => left + right,
  '-': (left, right) => left - right,
  '*': (left, right) => left * right,
  '/': (left, right) => left / right,
  '>=': (left, right) => Number(left >= right),
  '<=': (left, right) => Number(left <= right),
  '>': (left, right) => Number(left > right),
  '<': (left, right) => Number(left < right),
  '==': (left, right) => Number(left === right),
  '!=': (left, right) => Number(left !== right),
  AND: (left, right) => Number(left !== 0 && right !== 0),
  OR: (left, right) => Number(left !== 0 || right !== 0),
};

/** From the loosest to the tightest. */
const PRECEDENCE = [['OR'], ['AND'], ['>=', '<=', '>', '<', '==', '!='], ['+', '-'], ['*', '/']] as const;

/**
 * Of two series "only one of [which] has a value for a particular time stamp, the function treats the missing value in the other time series
 * as 0". A series that has no value beside a number, or beside another without one, has no value in the result. "If the value of a data
 * point causes a function to attempt to divide by zero, the data point is dropped."
 */
const combine = (operator: string, left: Operand, right: Operand): Operand => {
  const apply = OPERATORS[operator] as (left: number, right: number) => number;
  if (left.is === 'number' && right.is === 'number') {
    return { is: 'number', value: apply(left.value, right.value) };
  }
  const hasValue = [left, right].some((each) => each.is === 'series' && each.value !== undefined);
  const result = hasValue ? apply(left.value ?? 0, right.value ?? 0) : undefined;
  return series(Number.isFinite(result) ? result : undefined);
};

/** A value that is true and missing is 0; one that is false and missing is dropped, as is one without a condition ("Using IF expressions"). */
const choose = (condition: Operand, whenTrue: Operand, whenFalse: Operand): Operand => {
  if (condition.value === undefined) return series(undefined);
  return condition.value === 0 ? series(whenFalse.value) : series(whenTrue.value ?? 0);
};

type Compiled = (values: Values) => Operand;

/** Throws for what it does not know. */
const compile = (expression: string): Compiled => {
  const tokens = expression.match(/[A-Za-z_]\w*|\d+(?:\.\d+)?|[<>=!]=|\S/g) ?? [];
  const next = (expected?: string): string => {
    const token = tokens.shift() ?? 'the end';
    if (expected !== undefined && token !== expected) {
      throw new Error(`${token} in place of ${expected} in ${expression}`);
    }
    return token;
  };

  const binary = (level: number): Compiled => {
    const operators: readonly string[] | undefined = PRECEDENCE[level];
    if (operators === undefined) return primary();
    let left = binary(level + 1);
    while (operators.includes(tokens[0] ?? '')) {
      const [operator, first, second] = [next(), left, binary(level + 1)];
      left = (values) => combine(operator, first(values), second(values));
    }
    return left;
  };

  const primary = (): Compiled => {
    const token = next();
    if (token === '(') {
      const inner = binary(0);
      next(')');
      return inner;
    }
    if (token === 'IF') {
      next('(');
      const condition = binary(0);
      next(',');
      const whenTrue = binary(0);
      next(',');
      const whenFalse = binary(0);
      next(')');
      return (values) => choose(condition(values), whenTrue(values), whenFalse(values));
    }
    if (/^\d/.test(token)) return () => ({ is: 'number', value: Number(token) });
    return (values) => {
      if (!Object.hasOwn(values, token)) throw new Error(`${token} is no metric and no known function`);
      return series(values[token]);
    };
  };

  const compiled = binary(0);
  if (tokens.length > 0) throw new Error(`${tokens[0]} after the end of ${expression}`);
  return compiled;
};

const known = new Map<string, Compiled>();

/** Returns the value of an expression; undefined if it has none at this point. Throws for what it does not know. */
export const evaluate = (expression: string, values: Values): number | undefined => {
  const compiled = known.get(expression) ?? compile(expression);
  known.set(expression, compiled);
  return compiled(values).value;
};
