/** Replays figures over the alarms of a template, minute by minute, as CloudWatch evaluates them. */
import type { Template } from 'aws-cdk-lib/assertions';
import { resourcesOf } from '../synthesized.ts';
import { EXTRA_POINTS, type State, stateAfter } from './alarm-state.ts';
import { evaluate } from './metric-math.ts';

/** Values of a metric in a minute. They count from the minute of their arrival on. */
export interface Sample {
  readonly metric: string;
  readonly minute: number;
  readonly arrives: number;
  readonly value: number;
  /** How many times the value occurs. */
  readonly count: number;
}

/** Returns the name of a metric: `AWS/ApiGateway 5XXError ApiName=buyer-linking-prod-api`. */
export const metricName = (
  namespace: string,
  name: string,
  dimensions: Readonly<Record<string, unknown>> = {},
): string =>
  [
    `${namespace} ${name}`,
    ...Object.entries(dimensions)
      .map(([key, value]) => `${key}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
      .sort(),
  ].join(' ');

interface MetricJson {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface AlarmJson extends MetricJson {
  readonly AlarmName: string;
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: 'breaching' | 'notBreaching' | 'ignore';
  readonly Period?: number;
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: MetricJson; readonly Period: number; readonly Stat: string };
  }[];
}

interface MetricOfAlarm {
  readonly id: string;
  readonly metric: string;
  readonly statistic: string;
  readonly periodMinutes: number;
}

interface ReplayedAlarm {
  /** Without the prefix of the stage. */
  readonly name: string;
  readonly expression: string;
  readonly metrics: readonly MetricOfAlarm[];
  readonly json: AlarmJson;
}

const nameOf = ({ Namespace, MetricName, Dimensions = [] }: MetricJson): string =>
  metricName(Namespace, MetricName, Object.fromEntries(Dimensions.map(({ Name, Value }) => [Name, Value])));

const metricsOf = (alarm: AlarmJson): readonly MetricOfAlarm[] =>
  alarm.Metrics === undefined
    ? [
        {
          id: 'only',
          metric: nameOf(alarm),
          statistic: String(alarm.Statistic ?? alarm.ExtendedStatistic),
          periodMinutes: Number(alarm.Period) / 60,
        },
      ]
    : alarm.Metrics.flatMap(({ Id: id, MetricStat: stat }) =>
        stat === undefined
          ? []
          : [
              {
                id,
                metric: nameOf(stat.Metric),
                statistic: stat.Stat,
                periodMinutes: stat.Period / 60,
              },
            ],
      );

/** Returns the alarms of a template by the names that begin with the prefix. */
export const alarmsOf = (template: Template, prefix: string): readonly ReplayedAlarm[] =>
  Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => {
    const json: AlarmJson = Properties;
    return {
      name: json.AlarmName.slice(prefix.length),
      expression: json.Metrics?.find(({ Expression }) => Expression !== undefined)?.Expression ?? 'only',
      metrics: metricsOf(json),
      json,
    };
  });

const total = (samples: readonly Sample[], of: (sample: Sample) => number): number =>
  samples.reduce((sum, sample) => sum + of(sample), 0);

/** The value below which a share of the samples is. */
const percentile = (samples: readonly Sample[], share: number): number => {
  const sorted = samples.toSorted((one, other) => one.value - other.value);
  let left = total(samples, ({ count }) => count) * share;
  return (
    sorted.find(({ count }) => {
      left -= count;
      return left <= 0;
    })?.value ?? Number.NaN
  );
};

const STATISTICS: Readonly<Record<string, (samples: readonly Sample[]) => number>> = {
  Sum: (samples) => total(samples, ({ value, count }) => value * count),
  SampleCount: (samples) => total(samples, ({ count }) => count),
  Average: (samples) =>
    total(samples, ({ value, count }) => value * count) / total(samples, ({ count }) => count),
  Maximum: (samples) => Math.max(...samples.map(({ value }) => value)),
  Minimum: (samples) => Math.min(...samples.map(({ value }) => value)),
  p99: (samples) => percentile(samples, 0.99),
};

/** The samples of each minute, by metric. */
type Series = ReadonlyMap<string, readonly (readonly Sample[])[]>;

const seriesOf = (all: readonly Sample[]): Series => {
  const series = new Map<string, Sample[][]>();
  for (const sample of all) {
    const minutes = series.get(sample.metric) ?? [];
    series.set(sample.metric, minutes);
    minutes[sample.minute] = [...(minutes[sample.minute] ?? []), sample];
  }
  return series;
};

/**
 * Returns a function that says whether the alarm breaches in the period that ends at a minute, as far as its samples have arrived: undefined
 * if it has no value. A period whose samples have all arrived is computed once.
 */
const breachesOf = ({ expression, metrics, json }: ReplayedAlarm, series: Series) => {
  const known = new Map<number, boolean | undefined>();
  return (endsAt: number, now: number): boolean | undefined => {
    if (known.has(endsAt)) return known.get(endsAt);
    let isComplete = true;
    const values = metrics.map(({ id, metric, statistic, periodMinutes }) => {
      const samples = (series.get(metric) ?? [])
        .slice(Math.max(0, endsAt - periodMinutes), Math.max(0, endsAt))
        .flat();
      const arrived = samples.filter(({ arrives }) => arrives <= now);
      isComplete &&= arrived.length === samples.length;
      const compute = STATISTICS[statistic];
      if (compute === undefined) throw new Error(`no statistic ${statistic}`);
      return [id, arrived.length === 0 ? undefined : compute(arrived)] as const;
    });
    const value = evaluate(expression, Object.fromEntries(values));
    const isBreach = value === undefined ? undefined : value >= json.Threshold;
    if (isComplete) known.set(endsAt, isBreach);
    return isBreach;
  };
};

/** Returns the first minute of each alarm state but OK, by the name of the alarm, and the alarms that are raised at the end. */
export const replay = (
  alarms: readonly ReplayedAlarm[],
  all: readonly Sample[],
  { from, until }: { readonly from: number; readonly until: number },
) => {
  const series = seriesOf(all);
  const replayed = alarms.map((alarm) => ({ alarm, isBreach: breachesOf(alarm, series) }));
  const states = new Map<string, State>(alarms.map(({ name }) => [name, 'OK']));
  const raisedAt = new Map<string, number>();
  // "A sliding window, which advances each time the alarm is evaluated" (CloudWatch, EvaluationWindow): each minute.
  for (let now = from; now <= until; now += 1) {
    for (const { alarm, isBreach } of replayed) {
      const { EvaluationPeriods: evaluated, DatapointsToAlarm: breaching, TreatMissingData } = alarm.json;
      const periodMinutes = alarm.metrics[0]?.periodMinutes ?? 1;
      const points = Array.from({ length: evaluated + EXTRA_POINTS }, (_, index) =>
        isBreach(now - index * periodMinutes, now),
      ).reverse();
      const state = stateAfter(
        points,
        { breaching, evaluated, missingData: TreatMissingData },
        states.get(alarm.name) ?? 'OK',
      );
      states.set(alarm.name, state);
      if (state === 'ALARM' && !raisedAt.has(alarm.name)) raisedAt.set(alarm.name, now);
    }
  }
  const raisedAtEnd = [...states].filter(([, state]) => state === 'ALARM').map(([name]) => name);
  return { raisedAt, raisedAtEnd };
};
