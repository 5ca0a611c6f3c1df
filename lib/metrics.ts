import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { EVENTS, type EventName } from '#shared/log-events.ts';

type MetricName<Event extends EventName> = (typeof EVENTS)[Event] extends { readonly metrics: infer M }
  ? keyof M & string
  : never;

interface View {
  readonly period: Duration;
  readonly statistic: string;
  readonly label?: string;
}

/** Throws if the event does not record its metrics by these dimensions: an alarm on them would never have data. */
const assertRecorded = (event: EventName, dimensions: readonly string[]): void => {
  const { dimensions: recorded = [[]] }: { readonly dimensions?: readonly (readonly string[])[] } =
    EVENTS[event];
  const requested = [...dimensions].sort().join(' ');
  if (!recorded.some((set) => [...set].sort().join(' ') === requested)) {
    throw new Error(`the metrics of ${event} are not recorded by [${requested}]`);
  }
};

/** Returns the CloudWatch namespace of a stage's metrics. */
export const metricNamespaceOf = (stage: string): string => `BuyerLinking/${stage}`;

/** Returns the metrics that the functions of a stage write with their log lines. */
export const loggedMetrics = (stage: string) => {
  const namespace = metricNamespaceOf(stage);
  return {
    /** Returns one metric of an event. A metric that the event does not have is a type error; dimensions that it is not recorded by throw. */
    one<Event extends EventName>(
      event: Event,
      metricName: MetricName<Event>,
      dimensions: Readonly<Record<string, string>>,
      view: View,
    ): Metric {
      assertRecorded(event, Object.keys(dimensions));
      return new Metric({ namespace, metricName, dimensionsMap: { ...dimensions }, ...view });
    },

    /** Returns a search for graphs: one line for each value of the dimensions, new codes and providers included. */
    each<Event extends EventName>(
      event: Event,
      metricName: MetricName<Event>,
      dimensions: readonly string[],
      { period, statistic }: View,
    ): IMetric {
      assertRecorded(event, dimensions);
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
