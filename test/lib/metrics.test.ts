import { describe, expect, test } from '@jest/globals';
import { Duration } from 'aws-cdk-lib';
import { loggedMetrics, metricNamespaceOf } from '#lib/metrics.ts';
import { logEvent, redirectLog } from '#shared/log.ts';

const SUM = { period: Duration.minutes(5), statistic: 'Sum' } as const;

const metrics = loggedMetrics('dev');

beforeEach(() => {
  process.env.METRIC_NAMESPACE = metricNamespaceOf('dev');
});
afterEach(() => {
  delete process.env.METRIC_NAMESPACE;
});

describe('a metric of the log', () => {
  test('is the one that the log line carries: same namespace, name and dimensions', () => {
    const lines: string[] = [];
    const restore = redirectLog((line) => lines.push(line));
    logEvent('request_failed', { request_id: '1', operation: 'create-user' });
    restore();
    const [written] = JSON.parse(lines[0] ?? '')._aws.CloudWatchMetrics;
    const metric = metrics.one('request_failed', 'UnexpectedErrors', { operation: 'create-user' }, SUM);
    expect(metric.namespace).toBe(written.Namespace);
    expect(written.Metrics.map(({ Name }: { Name: string }) => Name)).toContain(metric.metricName);
    expect(written.Dimensions).toContainEqual(Object.keys(metric.dimensions ?? {}));
  });

  test('by dimensions that it is not kept by is refused, for its alarm would never ring', () => {
    expect(() => metrics.one('request_failed', 'UnexpectedErrors', { plan: 'free' }, SUM)).toThrow(
      'not kept by [plan]',
    );
    expect(() => metrics.one('request_failed', 'UnexpectedErrors', {}, SUM)).toThrow('not kept by []');
    expect(() => metrics.each('key_checked', 'KeysChecked', ['reason'], SUM)).toThrow('not kept by [reason]');
  });

  test('is never that of another stage of the same account', () => {
    expect(
      loggedMetrics('prod').one('rate_limiter_unreachable', 'RateLimiterUnreachable', {}, SUM).namespace,
    ).not.toBe(metrics.one('rate_limiter_unreachable', 'RateLimiterUnreachable', {}, SUM).namespace);
  });

  test('for a graph is a search over every value of its dimensions', () => {
    const [expression] = [
      metrics.each('key_checked', 'KeysChecked', ['outcome'], SUM).toMetricConfig().mathExpression,
    ];
    expect(expression?.expression).toBe(
      `SEARCH('{BuyerLinking/dev,outcome} MetricName="KeysChecked"', 'Sum', 300)`,
    );
  });
});
