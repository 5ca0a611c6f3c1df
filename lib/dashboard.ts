import { Duration } from 'aws-cdk-lib';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
} from 'aws-cdk-lib/aws-cloudwatch';
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { isServed } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { MonitoredService } from './alarms.ts';
import { ApiFunction } from './api-function.ts';
import { awsMetric } from './metrics.ts';

const PERIOD = Duration.minutes(1);
const SUM = { period: PERIOD, statistic: 'Sum' } as const;
const P99 = { period: PERIOD, statistic: 'p99' } as const;
/** Columns of a graph. A dashboard has 24, so there are two graphs in a row. */
const WIDTH = 12;

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget =>
  new GraphWidget({ title, width: WIDTH, left: [...left], right: [...right], period: PERIOD });

/** Returns the graphs: about requests, then about what requests use. */
const graphsOf = ({ config, api, table, monitoring: { metrics } }: MonitoredService): IWidget[] => {
  const operations = allRoutes.filter((row) => isServed(row, config.otpAccess)).map(({ name }) => name);
  return [
    graph(
      'Traffic by operation',
      operations.map((operation) =>
        // Each request has a duration, so its samples are the requests.
        metrics.one(
          'Duration',
          { operation },
          { period: PERIOD, statistic: 'SampleCount', label: operation },
        ),
      ),
    ),
    graph(
      'Traffic by plan',
      PLAN_NAMES.map((plan) => metrics.one('Requests', { plan }, { ...SUM, label: plan })),
    ),
    graph(
      'Function time by operation (p99, ms)',
      operations.map((operation) => metrics.one('Duration', { operation }, { ...P99, label: operation })),
    ),
    graph(
      'API Gateway latency (ms) and 5xx responses',
      [
        api.metricLatency({ period: PERIOD, statistic: 'p50', label: 'p50' }),
        api.metricLatency({ ...P99, label: 'p99' }),
      ],
      [api.metricServerError({ ...SUM, label: '5xx' })],
    ),
    graph('Responses by code', [metrics.each('Requests', ['operation', 'outcome'], SUM)]),
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
    graph('Rate limiter unreachable, and failures of providers', [
      metrics.one('RateLimiterUnreachable', {}, SUM),
      metrics.each('ProviderFailures', ['provider'], SUM),
    ]),
  ];
};

/**
 * Adds the dashboard of a stack: its alarms so far, then the graphs, two in a row. Returns its name, which CloudFormation makes: names of
 * dashboards are unique in an account, over all Regions.
 */
export const addDashboard = (scope: Construct, service: MonitoredService): string => {
  const alarms = new AlarmStatusWidget({
    title: 'Alarms',
    width: 2 * WIDTH,
    alarms: [...service.monitoring.alarms],
  });
  return new Dashboard(scope, 'Dashboard', { widgets: [[alarms, ...graphsOf(service)]] }).dashboardName;
};

/** The fields of the completion line, and of the lines about provider calls. */
const REQUEST =
  'operation, status, code, duration_ms, key_id, calls, cause, cause_provider, cause_operation, cause_reason';

/** Saves two queries of CloudWatch Logs Insights over the logs of all functions, for the runbook. A person writes the id in the place of `<id>`. */
export const addLogQueries = (scope: Construct, name: string): void => {
  const functions = scope.node.findAll().filter((each) => each instanceof ApiFunction);
  const logGroupNames = functions.map(({ logGroup }) => logGroup.logGroupName);
  const queries = {
    'one request': `fields @timestamp, event, ${REQUEST}, provider, provider_operation, outcome, error_message
| filter request_id = "<id>"
| sort @timestamp`,
    'requests of a seller': `fields @timestamp, request_id, ${REQUEST}
| filter event = "request_completed" and seller_id = "<id>"
| sort @timestamp desc
| limit 200`,
  };
  for (const [title, queryString] of Object.entries(queries)) {
    new CfnQueryDefinition(scope, `Query-${title}`, { name: `${name}/${title}`, queryString, logGroupNames });
  }
};
