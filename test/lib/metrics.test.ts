import { metricNamespaceOf } from '#lib/metrics.ts';
import { logEvent, redirectLog } from '#shared/log.ts';

afterEach(() => {
  delete process.env.METRIC_NAMESPACE;
  delete process.env.AWS_LAMBDA_FUNCTION_VERSION;
});

test('a line of the log has the version that Lambda runs, and its metrics have the namespace of the stage', () => {
  process.env.METRIC_NAMESPACE = metricNamespaceOf('dev');
  process.env.AWS_LAMBDA_FUNCTION_VERSION = '42';
  const lines: string[] = [];
  const restore = redirectLog((line) => lines.push(line));
  logEvent('request_failed', { request_id: '1', operation: 'create-user' });
  restore();
  const { version, _aws: metrics } = JSON.parse(lines[0] ?? '');
  expect(version).toBe('42');
  expect(metrics.CloudWatchMetrics[0]).toMatchObject({
    Namespace: 'BuyerLinking/dev',
    Dimensions: expect.arrayContaining([['operation', 'version']]),
  });
});
