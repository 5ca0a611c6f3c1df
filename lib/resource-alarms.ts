/** The alarms on limits of the resources that functions use. */
import { Duration, Stack } from 'aws-cdk-lib';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb';
import type { Construct } from 'constructs';
import type { AlarmProps, Monitoring } from './alarms.ts';
import type { Config } from './config.ts';
import { FIREWALL_ALL_RULES, firewallMetricName } from './firewall.ts';
import { SUM } from './metrics.ts';
import type { StaticEgress } from './static-egress.ts';

/** Blocked requests in five minutes that a person should look at. */
const BLOCKED_REQUESTS = 1000;

/** ACM renews a certificate 60 days before its end; at this number the renewal has failed for a month. */
const CERTIFICATE_DAYS = 30;

interface MonitoredResources {
  readonly config: Config;
  readonly monitoring: Pick<Monitoring, 'addAlarm'>;
  readonly table: ITableV2;
  readonly egress: StaticEgress | undefined;
}

/** Adds the alarms of the resources that the stage has. */
export const addResourceAlarms = (scope: Construct, resources: MonitoredResources): void => {
  const { config, monitoring, table, egress } = resources;
  const alarms = [
    // It costs as much as three alarms, so a stage has it only if somebody receives it.
    ...(config.alarms ? [tableAlarm(table)] : []),
    ...(egress ? [portsAlarm(egress)] : []),
    ...(config.firewall ? [firewallAlarm(scope, config)] : []),
    ...(config.domain ? [certificateAlarm(config.domain)] : []),
  ];
  for (const alarm of alarms) monitoring.addAlarm(scope, alarm);
};

const tableAlarm = ({ tableName: TableName }: ITableV2): AlarmProps => {
  const metric = (metricName: string): Metric =>
    new Metric({ namespace: 'AWS/DynamoDB', metricName, dimensionsMap: { TableName }, ...SUM });
  return {
    name: 'table-throttled',
    impact: 'Requests are slow or fail: the table refuses reads or writes above its throughput.',
    metric: new MathExpression({
      // "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data" (PutMetricAlarm), and these two have
      // data only while they count something. The consumed capacity gives every minute with traffic a value, so that the alarm ends.
      expression: 'reads + writes + 0 * consumed',
      label: 'throttled reads and writes',
      period: SUM.period,
      usingMetrics: {
        reads: metric('ReadThrottleEvents'),
        writes: metric('WriteThrottleEvents'),
        consumed: metric('ConsumedReadCapacityUnits'),
      },
    }),
    threshold: 10,
  };
};

const portsAlarm = ({ natGatewayId: NatGatewayId }: StaticEgress): AlarmProps => ({
  name: 'nat-ports-used-up',
  impact: 'Some calls to providers fail: the NAT gateway has no port left for a connection.',
  metric: new Metric({
    namespace: 'AWS/NATGateway',
    metricName: 'ErrorPortAllocation',
    dimensionsMap: { NatGatewayId },
    ...SUM,
  }),
  threshold: 1,
});

const firewallAlarm = (scope: Construct, { stage }: Config): AlarmProps => ({
  name: 'firewall-blocks',
  impact: 'The firewall blocks many requests: an address floods the service, or a seller is above its limit.',
  metric: new Metric({
    namespace: 'AWS/WAFV2',
    metricName: 'BlockedRequests',
    dimensionsMap: {
      WebACL: firewallMetricName(stage),
      Rule: FIREWALL_ALL_RULES,
      Region: Stack.of(scope).region,
    },
    ...SUM,
  }),
  threshold: BLOCKED_REQUESTS,
});

const certificateAlarm = ({ certificateArn: CertificateArn }: NonNullable<Config['domain']>): AlarmProps => ({
  name: 'certificate-expiring',
  impact: `The certificate of the domain ends within ${CERTIFICATE_DAYS} days and was not renewed: then no client can connect.`,
  metric: new MathExpression({
    expression: `IF(days <= ${CERTIFICATE_DAYS}, 1, 0)`,
    label: 'certificate ends soon',
    period: Duration.days(1),
    usingMetrics: {
      days: new Metric({
        namespace: 'AWS/CertificateManager',
        metricName: 'DaysToExpiry',
        dimensionsMap: { CertificateArn },
        period: Duration.days(1),
        statistic: 'Minimum',
      }),
    },
  }),
  threshold: 1,
});
