import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { isServed } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { MonitoredService } from './alarms.ts';
import { awsMetric } from './metrics.ts';

const PERIOD = Duration.minutes(1);
const SUM = { period: PERIOD, statistic: 'Sum' } as const;
const P99 = { period: PERIOD, statistic: 'p99' } as const;
/** Columns of a graph. A dashboard has 24, so there are two graphs in a row. */
const WIDTH = 12;

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget =>
  new GraphWidget({ title, width: WIDTH, left: [...left], right: [...right], period: PERIOD });

/** Returns the graphs: about requests, then about what requests use. */
const graphsOf = ({ config, api, table, metrics }: MonitoredService): IWidget[] => {
  const operations = allRoutes.filter((row) => isServed(row, config.otpAccess)).map(({ name }) => name);
  return [
    // Each response has a duration, so its samples count the responses.
    graph('Responses by operation and code', [
      metrics.each('Duration', ['operation', 'outcome'], { period: PERIOD, statistic: 'SampleCount' }),
    ]),
    graph(
      'Traffic by plan',
      PLAN_NAMES.map((plan) => metrics.one('Requests', { plan }, { ...SUM, label: plan })),
    ),
    graph(
      'Function time by operation (p99 of successful requests, ms)',
      operations.map((operation) =>
        metrics.one('Duration', { operation, outcome: 'ok' }, { ...P99, label: operation }),
      ),
    ),
    graph(
      'API Gateway latency (ms) and 5xx responses',
      [
        api.metricLatency({ period: PERIOD, statistic: 'p50', label: 'p50' }),
        api.metricLatency({ ...P99, label: 'p99' }),
      ],
      [api.metricServerError({ ...SUM, label: '5xx' })],
    ),
    graph('Server errors by what they come from', [metrics.each('ServerErrors', ['cause_kind'], SUM)]),
    graph('Calls of a port that no provider answered, or not the first one', [
      metrics.each('ProvidersUnavailable', ['port'], SUM),
      metrics.each('ProviderTakeovers', ['port'], SUM),
    ]),
    graph('Key checks by result', [metrics.each('KeysChecked', ['outcome'], SUM)]),
    graph('Provider calls by outcome', [
      metrics.each('ProviderCalls', ['provider', 'provider_operation', 'outcome'], SUM),
    ]),
    graph('Provider time (p99, ms)', [
      metrics.each('ProviderDuration', ['provider', 'provider_operation'], P99),
    ]),
    graph(
      'Table: consumed capacity',
      ['ConsumedReadCapacityUnits', 'ConsumedWriteCapacityUnits'].map((name) =>
        awsMetric('DynamoDB', name, { TableName: table.tableName }, SUM),
      ),
    ),
    graph('Calls to AWS that passed without an answer', [
      metrics.one('RateLimiterUnreachable', {}, SUM),
      metrics.one('SecretRefreshFailures', {}, SUM),
    ]),
  ];
};

/**
 * Adds the dashboard of a stage: its alarms, then the graphs, two in a row. Returns its name, which CloudFormation makes: names of dashboards
 * are unique in an account, over all Regions.
 */
export const addDashboard = (
  scope: Construct,
  service: MonitoredService,
  alarms: readonly IAlarm[],
): string => {
  const states = new AlarmStatusWidget({ title: 'Alarms', width: 2 * WIDTH, alarms: [...alarms] });
  return new Dashboard(scope, 'Dashboard', { widgets: [[states, ...graphsOf(service)]] }).dashboardName;
};
