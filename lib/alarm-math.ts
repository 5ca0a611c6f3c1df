/** What the expressions of the alarms share. */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import { ALARM_PERIOD } from './metrics.ts';

/**
 * The second window, for what the first one misses at low traffic, from some three calls an hour on: three failed calls in an hour, if they are
 * half of the calls.
 */
export const HOUR = Duration.hours(1);
export const IN_AN_HOUR = { period: HOUR, statistic: 'Sum' };
export const FAILURES_IN_AN_HOUR = 3;
export const SHARE_IN_AN_HOUR = 0.5;

/** Arithmetic on metrics. "Missing values in a time series are treated as 0" (CloudWatch, Using metric math), unless all are missing. */
export const math = (
  label: string,
  expression: string,
  usingMetrics: Readonly<Record<string, IMetric>>,
  period: Duration = ALARM_PERIOD,
): MathExpression => new MathExpression({ label, expression, usingMetrics: { ...usingMetrics }, period });

/** Returns 1 while a count of failures in an hour, and their share of the calls, are those of the second window. */
export const failingInAnHour = (failures: string, share: string): string =>
  `IF(${failures} >= ${FAILURES_IN_AN_HOUR} AND ${share} >= ${SHARE_IN_AN_HOUR}, 1, 0)`;
