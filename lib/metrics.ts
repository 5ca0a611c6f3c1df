import type { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { EVENTS, type EventName } from '#shared/log.ts';

type MetricName<Event extends EventName> = (typeof EVENTS)[Event] extends { readonly metrics: infer M }
  ? keyof M & string
  : never;

interface View {
  readonly period: Duration;
  readonly statistic: string;
  readonly label?: string;
}

/** A metric by dimensions that its event does not keep it by would be an alarm that never rings, so it throws. */
const assertKept = (event: EventName, dimensions: readonly string[]): void => {
  const { dimensions: kept = [[]] }: { readonly dimensions?: readonly (readonly string[])[] } = EVENTS[event];
  const asked = [...dimensions].sort().join(' ');
  if (!kept.some((set) => [...set].sort().join(' ') === asked)) {
    throw new Error(`the metrics of ${event} are not kept by [${asked}]`);
  }
};

/** The namespace that the functions of a stage keep their metrics in. */
export const metricNamespaceOf = (stage: string): string => `BuyerLinking/${stage}`;

/** The metrics that the log of a stage carries. */
export const loggedMetrics = (stage: string) => {
  const namespace = metricNamespaceOf(stage);
  return {
    /** A metric of an event. A name that the event's registry does not hold is a type error. */
    one<Event extends EventName>(
      event: Event,
      metricName: MetricName<Event>,
      dimensions: Readonly<Record<string, string>>,
      view: View,
    ): Metric {
      assertKept(event, Object.keys(dimensions));
      return new Metric({ namespace, metricName, dimensionsMap: { ...dimensions }, ...view });
    },

    /** For a graph: one line for each value that the dimensions ever take, so that new codes and providers show by themselves. */
    each<Event extends EventName>(
      event: Event,
      metricName: MetricName<Event>,
      dimensions: readonly string[],
      { period, statistic }: View,
    ): IMetric {
      assertKept(event, dimensions);
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
