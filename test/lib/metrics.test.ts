import { metricNamespaceOf } from '#lib/metrics.ts';
import { logEvent, redirectLog } from '#shared/log.ts';

afterEach(() => {
  delete process.env.METRIC_NAMESPACE;
});

test('the metrics of a line of the log have the namespace of the stage', () => {
  process.env.METRIC_NAMESPACE = metricNamespaceOf('dev');
  const lines: string[] = [];
  const restore = redirectLog((line) => lines.push(line));
  logEvent('request_failed', { request_id: '1', operation: 'create-user' });
  restore();
  const { _aws: metrics } = JSON.parse(lines[0] ?? '');
  expect(metrics.CloudWatchMetrics[0]).toMatchObject({ Namespace: 'BuyerLinking/dev' });
});
