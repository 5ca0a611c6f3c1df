import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IAlarm,
  type IMetric,
  type IWidget,
  Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { allRoutes } from '#shared/routes.ts';
import type { LoggedMetrics } from './metrics.ts';

const PERIOD = Duration.minutes(1);
const SUM = { period: PERIOD, statistic: 'Sum' } as const;
/** The slowest one in a hundred. */
const SLOWEST = { period: PERIOD, statistic: 'p99' } as const;
/** A dashboard is 24 columns wide: two graphs a row. */
const WIDTH = 12;

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget =>
  new GraphWidget({ title, width: WIDTH, left: [...left], right: [...right], period: PERIOD });

interface DashboardProps {
  readonly name: string;
  readonly api: RestApi;
  readonly table: ITableV2;
  readonly alarms: readonly IAlarm[];
  readonly metrics: LoggedMetrics;
}

/** Who calls: by operation and by plan. */
const traffic = (metrics: LoggedMetrics): IWidget[] => [
  graph(
    'Traffic by operation',
    allRoutes.map(({ name: operation }) =>
      metrics.one('request_completed', 'Requests', { operation }, { ...SUM, label: operation }),
    ),
  ),
  graph(
    'Traffic by plan',
    PLAN_NAMES.map((plan) => metrics.one('request_completed', 'Requests', { plan }, { ...SUM, label: plan })),
  ),
];

/** How fast, in the functions and on the whole way through the gateway. */
const latency = (api: RestApi, metrics: LoggedMetrics): IWidget[] => [
  graph(
    'Slowest one in a hundred, by operation (ms)',
    allRoutes.map(({ name: operation }) =>
      metrics.one('request_completed', 'Duration', { operation }, { ...SLOWEST, label: operation }),
    ),
  ),
  graph(
    'The whole way through the gateway (ms) and its 5xx answers',
    [
      api.metricLatency({ period: PERIOD, statistic: 'p50', label: 'p50' }),
      api.metricLatency({ ...SLOWEST, label: 'p99' }),
    ],
    [api.metricServerError({ ...SUM, label: '5xx' })],
  ),
];

/** What is refused, and at which door. */
const refusals = (metrics: LoggedMetrics): IWidget[] => [
  graph('Answers and refusals by code', [
    metrics.each('request_completed', 'Requests', ['operation', 'outcome'], SUM),
  ]),
  graph('Keys let in and turned away', [metrics.each('key_checked', 'KeysChecked', ['outcome'], SUM)]),
];

/** Whether the providers are well. */
const providers = (metrics: LoggedMetrics): IWidget[] => [
  graph('Provider calls by outcome', [
    metrics.each('provider_called', 'ProviderCalls', ['provider', 'provider_operation', 'outcome'], SUM),
  ]),
  graph('Provider time (ms, slowest one in a hundred)', [
    metrics.each('provider_called', 'ProviderDuration', ['provider', 'provider_operation'], SLOWEST),
  ]),
];

/** What the table gives, and what went by without it. */
const supplies = (table: ITableV2, metrics: LoggedMetrics): IWidget[] => {
  const dimensionsMap = { TableName: table.tableName };
  const capacity = (metricName: string) =>
    new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap, ...SUM });
  return [
    graph('Table: consumed capacity', [
      capacity('ConsumedReadCapacityUnits'),
      capacity('ConsumedWriteCapacityUnits'),
    ]),
    graph('Passed uncounted, and circuits that changed', [
      metrics.one('rate_limiter_unreachable', 'RateLimiterUnreachable', {}, SUM),
      metrics.each('circuit_changed', 'CircuitChanges', ['provider', 'state'], SUM),
    ]),
  ];
};

/** What a person on call looks at first: is anything ringing, who is calling, how fast, what is refused, are the providers well. */
export const addDashboard = (
  scope: Construct,
  { name, api, table, alarms, metrics }: DashboardProps,
): void => {
  new Dashboard(scope, 'Dashboard', {
    dashboardName: name,
    widgets: [
      [new AlarmStatusWidget({ title: 'Alarms', width: 2 * WIDTH, alarms: [...alarms] })],
      traffic(metrics),
      latency(api, metrics),
      refusals(metrics),
      providers(metrics),
      supplies(table, metrics),
    ],
  });
};
