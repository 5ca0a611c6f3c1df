/** The values of the metrics of an alarm in one minute; a metric without a value has no data point. */
export type Minute = Readonly<Partial<Record<'internal' | 'errors' | 'checked', number>>>;

interface MathAlarm {
  readonly Threshold: number;
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly Metrics: readonly { readonly Expression?: string }[];
}

/** Minutes that are evaluated after the last value arrived. */
const FURTHER_MINUTES = 3;

/**
 * Returns the value of an expression in one minute as "Using metric math" of CloudWatch describes it: undefined if no metric has a
 * value, since there is no data point then; otherwise a missing value counts as 0. FILL gives a value to every minute.
 */
const valueIn = (expression: string, minute: Minute): number | undefined => {
  if (Object.keys(minute).length === 0 && !expression.includes('FILL')) return undefined;
  const { internal = 0, errors = 0, checked = 0 } = minute;
  const source = expression.replaceAll(' AND ', ' && ').replaceAll(/FILL\((\w+), 0\)/g, '$1');
  const IF = (condition: boolean, yes: number, no: number): number => (condition ? yes : no);
  return Number(
    new Function('internal', 'errors', 'checked', 'IF', `return ${source}`)(internal, errors, checked, IF),
  );
};

/** Returns whether an alarm is raised at any minute, if each value arrives `delay` minutes after its minute. */
export const isRaised = (alarm: MathAlarm, minutes: readonly Minute[], delay: number): boolean => {
  const expression = alarm.Metrics[0]?.Expression ?? '';
  const evaluations = Array.from({ length: minutes.length + delay + FURTHER_MINUTES }, (_, now) => {
    const known = Array.from({ length: alarm.EvaluationPeriods }, (__, age) => now - age).map((time) =>
      valueIn(expression, time <= now - delay ? (minutes[time] ?? {}) : {}),
    );
    // Missing data is not breaching.
    return known.filter((value) => value !== undefined && value >= alarm.Threshold).length;
  });
  return evaluations.some((breaching) => breaching >= alarm.DatapointsToAlarm);
};
