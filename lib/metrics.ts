import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import { EVENTS, type EventKind } from '#shared/log.ts';

/** The period over which alarms evaluate a metric. */
export const ALARM_PERIOD = Duration.minutes(5);

/** The view of most alarms: what happened in a period. */
export const SUM = { period: ALARM_PERIOD, statistic: 'Sum' } as const;

type KeysOfEach<Union> = Union extends unknown ? keyof Union : never;

/** The name of a metric of any event. */
type MetricName = KeysOfEach<(typeof EVENTS)[keyof typeof EVENTS]['metrics']>;

/** Throws if no event records the metric by these dimensions: an alarm on it would never have data. */
const assertRecorded = (name: MetricName, dimensions: readonly string[]): void => {
  const inOrder = (names: readonly string[]): string => [...names].sort().join(' ');
  const events: readonly EventKind[] = Object.values(EVENTS).filter(({ metrics }) => name in metrics);
  const recorded = events.flatMap((event) => event.dimensions ?? []);
  if (!recorded.some((set) => inOrder(set) === inOrder(dimensions))) {
    throw new Error(`the metric ${name} is not recorded by [${inOrder(dimensions)}]`);
  }
};

/** Returns the CloudWatch namespace of a stage's metrics. */
export const metricNamespaceOf = (stage: string): string => `BuyerLinking/${stage}`;

/** Returns the metrics that the functions of a stage write with their log lines. */
export const loggedMetrics = (stage: string) => {
  const namespace = metricNamespaceOf(stage);
  return {
    /** Returns one metric. Throws for dimensions that it is not recorded by. */
    one(
      metricName: MetricName,
      dimensions: Readonly<Record<string, string>>,
      view: MetricOptions = SUM,
    ): Metric {
      assertRecorded(metricName, Object.keys(dimensions));
      return new Metric({ namespace, metricName, dimensionsMap: { ...dimensions }, ...view });
    },

    /** Returns a search for graphs: one line for each value of the dimensions, new codes and providers included. */
    each(
      metricName: MetricName,
      dimensions: readonly string[],
      { period, statistic }: { readonly period: Duration; readonly statistic: string },
    ): IMetric {
      assertRecorded(metricName, dimensions);
      const search = `{${[namespace, ...dimensions].join(',')}} MetricName="${metricName}"`;
      return new MathExpression({
        expression: `SEARCH('${search}', '${statistic}', ${period.toSeconds()})`,
        label: '',
        period,
        usingMetrics: {},
      });
    },
  };
};
