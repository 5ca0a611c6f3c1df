import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric, type MetricOptions } from 'aws-cdk-lib/aws-cloudwatch';
import type { EVENTS } from '#shared/log.ts';

/** The period over which alarms evaluate a metric. */
export const ALARM_PERIOD = Duration.minutes(5);

/** The view of most alarms: what happened in a period. */
export const SUM = { period: ALARM_PERIOD, statistic: 'Sum' } as const;

/** Returns a metric of AWS: `DynamoDB` is the namespace AWS/DynamoDB. */
export const awsMetric = (
  namespace: string,
  metricName: string,
  dimensions: Readonly<Record<string, string>>,
  view: MetricOptions = SUM,
): Metric =>
  new Metric({ namespace: `AWS/${namespace}`, metricName, dimensionsMap: { ...dimensions }, ...view });

type KeysOfEach<Union> = Union extends unknown ? keyof Union : never;

/** The name of a metric of any event. */
type MetricName = KeysOfEach<(typeof EVENTS)[keyof typeof EVENTS]['metrics']>;

export const metricNamespaceOf = (stage: string): string => `BuyerLinking/${stage}`;

/** Returns the metrics that the functions of a stage write with their log lines. */
export const loggedMetrics = (stage: string) => {
  const namespace = metricNamespaceOf(stage);
  return {
    /** Returns one metric. A test checks that an event records it by these dimensions. */
    one(
      metricName: MetricName,
      dimensions: Readonly<Record<string, string>>,
      view: MetricOptions = SUM,
    ): Metric {
      return new Metric({ namespace, metricName, dimensionsMap: { ...dimensions }, ...view });
    },

    /** Returns a search for graphs: one line for each value of the dimensions, new codes and providers included. */
    each(
      metricName: MetricName,
      dimensions: readonly string[],
      { period, statistic }: { readonly period: Duration; readonly statistic: string },
    ): IMetric {
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

export type LoggedMetrics = ReturnType<typeof loggedMetrics>;
