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
  test('has the namespace, name and dimensions that the log line carries', () => {
    const lines: string[] = [];
    const restore = redirectLog((line) => lines.push(line));
    logEvent('provider_failed', { request_id: '1', provider: 'jibit', reason: 'quota' });
    restore();
    const [written] = JSON.parse(lines[0] ?? '')._aws.CloudWatchMetrics;
    const metric = metrics.one('ProviderFailures', { provider: 'jibit' }, SUM);
    expect(metric.namespace).toBe(written.Namespace);
    expect(written.Metrics.map(({ Name }: { Name: string }) => Name)).toContain(metric.metricName);
    expect(written.Dimensions).toContainEqual(Object.keys(metric.dimensions ?? {}));
  });

  test('differs from the metric of another stage of the same account', () => {
    expect(loggedMetrics('prod').one('RateLimiterUnreachable', {}, SUM).namespace).not.toBe(
      metrics.one('RateLimiterUnreachable', {}, SUM).namespace,
    );
  });

  test('is a search over every value of its dimensions in a graph', () => {
    const [expression] = [metrics.each('KeysChecked', ['outcome'], SUM).toMetricConfig().mathExpression];
    expect(expression?.expression).toBe(
      `SEARCH('{BuyerLinking/dev,outcome} MetricName="KeysChecked"', 'Sum', 300)`,
    );
  });
});
