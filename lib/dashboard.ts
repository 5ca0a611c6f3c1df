import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  type IMetric,
  type IWidget,
  Metric,
} from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { OtpAccess } from '#shared/env.ts';
import { PLAN_NAMES } from '#shared/rate-limits/plans.ts';
import { isServed } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { Monitoring } from './alarms.ts';

const PERIOD = Duration.minutes(1);
const SUM = { period: PERIOD, statistic: 'Sum' } as const;
const P99 = { period: PERIOD, statistic: 'p99' } as const;
/** Columns of a graph. A dashboard has 24, so there are two graphs in a row. */
const WIDTH = 12;
/** What CloudWatch shows in a status widget. */
const ALARMS_OF_A_WIDGET = 50;

const graph = (title: string, left: readonly IMetric[], right: readonly IMetric[] = []): IWidget =>
  new GraphWidget({ title, width: WIDTH, left: [...left], right: [...right], period: PERIOD });

interface DashboardProps {
  readonly otpAccess: OtpAccess;
  readonly name: string;
  readonly api: RestApi;
  readonly table: ITableV2;
  readonly monitoring: Monitoring;
}

/** Returns the rows of graphs about requests. */
const requestRows = ({ otpAccess, api, monitoring: { metrics } }: DashboardProps): IWidget[][] => {
  const served = allRoutes.filter((row) => isServed(row, otpAccess));
  return [
    [
      graph(
        'Traffic by operation',
        served.map(({ name: operation }) =>
          metrics.one('Requests', { operation }, { ...SUM, label: operation }),
        ),
      ),
      graph(
        'Traffic by plan',
        PLAN_NAMES.map((plan) => metrics.one('Requests', { plan }, { ...SUM, label: plan })),
      ),
    ],
    [
      graph(
        'Function time by operation (p99, ms)',
        served.map(({ name: operation }) =>
          metrics.one('Duration', { operation }, { ...P99, label: operation }),
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
    ],
    [
      graph('Responses by code', [metrics.each('Requests', ['operation', 'outcome'], SUM)]),
      graph('Key checks by result', [metrics.each('KeysChecked', ['outcome'], SUM)]),
    ],
  ];
};

const capacity = ({ tableName: TableName }: ITableV2, metricName: string): IMetric =>
  new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap: { TableName }, ...SUM });

/** Returns the rows of graphs about what requests use: the providers, the table and the rate limiter. */
const dependencyRows = ({ table, monitoring: { metrics } }: DashboardProps): IWidget[][] => [
  [
    graph('Provider calls by outcome', [
      metrics.each('ProviderCalls', ['provider', 'provider_operation', 'outcome'], SUM),
    ]),
    graph('Provider time (p99, ms)', [
      metrics.each('ProviderDuration', ['provider', 'provider_operation'], P99),
    ]),
  ],
  [
    graph('Table: consumed capacity', [
      capacity(table, 'ConsumedReadCapacityUnits'),
      capacity(table, 'ConsumedWriteCapacityUnits'),
    ]),
    graph('Rate limiter unreachable, and circuit changes', [
      metrics.one('RateLimiterUnreachable', {}, SUM),
      metrics.each('CircuitChanges', ['provider', 'state'], SUM),
    ]),
  ],
];

/** Returns the alarms as rows of status widgets. */
const alarmRows = ({ monitoring: { alarms } }: DashboardProps): IWidget[][] =>
  Array.from({ length: Math.ceil(alarms.length / ALARMS_OF_A_WIDGET) }, (_, index) => {
    const begin = index * ALARMS_OF_A_WIDGET;
    const shown = alarms.slice(begin, begin + ALARMS_OF_A_WIDGET);
    return [new AlarmStatusWidget({ title: `Alarms ${index + 1}`, width: 2 * WIDTH, alarms: shown })];
  });

/** Adds the dashboard of a stack: its alarms so far, then the rows of graphs. */
export const addDashboard = (scope: Construct, props: DashboardProps): void => {
  new Dashboard(scope, 'Dashboard', {
    dashboardName: props.name,
    widgets: [...alarmRows(props), ...requestRows(props), ...dependencyRows(props)],
  });
};
