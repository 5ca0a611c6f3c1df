/** The alarms of the service as a whole and of the resources that it uses; api-function.ts adds those of the reserved concurrency. */
import { Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { AlarmProps, MonitoredService } from './alarms.ts';
import { firewallMetricName } from './firewall.ts';
import { ALARM_PERIOD, awsMetric, SUM } from './metrics.ts';

const DAY = Duration.days(1);

/** The completion watch: at least this many codes sent in the period, and less than this share of them redeemed. */
const COMPLETION = {
  view: { period: Duration.minutes(30), statistic: 'Sum' },
  leastCodes: 20,
  leastShare: 0.2,
} as const;

/** The share of the throttle of one operation that keys may use which are none. */
const SHARE_OF_WRONG_KEYS = 1 / 10;

/** ACM renews a certificate 60 days before its end; at this number the renewal has failed for a month. */
const CERTIFICATE_DAYS = 30;

const math = (
  label: string,
  expression: string,
  usingMetrics: Readonly<Record<string, IMetric>>,
  period: Duration = ALARM_PERIOD,
): MathExpression => new MathExpression({ label, expression, usingMetrics: { ...usingMetrics }, period });

/** Returns the alarms of callers and of abuse. */
const serviceAlarms = ({ config, api, monitoring: { metrics } }: MonitoredService): readonly AlarmProps[] => {
  const requests = (operation: string, outcome: string) => metrics.one('Requests', { operation, outcome });
  return [
    {
      name: 'server-errors',
      impact:
        'Callers get 5xx responses: a function fails, the authorizer fails, or a provider is unavailable.',
      // Responses of API Gateway, whether made by a function or by API Gateway itself.
      metric: api.metricServerError(SUM),
      threshold: 5,
      periods: [2, 2],
    },
    {
      name: 'operations-failing',
      impact: 'Callers get internal: an operation, or the authorizer, fails unexpectedly.',
      metric: metrics.one('UnexpectedErrors', {}),
      threshold: 3,
    },
    {
      name: 'slow-responses',
      impact: 'One request in a hundred takes eight seconds or more.',
      metric: api.metricLatency({ period: ALARM_PERIOD, statistic: 'p99' }),
      threshold: 8000,
      periods: [3, 3],
    },
    {
      name: 'functions-throttled',
      impact: 'Callers get 5xx responses: Lambda has no concurrency left for a function.',
      // Without dimensions the metric covers every function of the account and Region, which share one limit.
      metric: awsMetric('Lambda', 'Throttles', {}),
      threshold: 1,
    },
    {
      name: 'identity-registries-unavailable',
      impact: 'Sellers cannot link buyers or check users: no identity registry returns a verdict.',
      metric: math('requests without a verdict', 'links + checks', {
        links: requests('create-user', 'verification_unavailable'),
        checks: requests('check-user', 'verification_unavailable'),
      }),
      threshold: 5,
    },
    {
      name: 'sms-unavailable',
      impact: 'Buyers get no sign-in codes: no SMS provider accepts a message.',
      metric: requests('send-otp', 'sms_unavailable'),
      threshold: 5,
    },
    {
      name: 'rate-limiter-unreachable',
      impact: 'Requests pass without being counted: only the usage plans of API Gateway limit sellers.',
      metric: metrics.one('RateLimiterUnreachable', {}),
      threshold: 10,
    },
    {
      name: 'wrong-keys',
      impact:
        'Many requests have keys that are none: from many addresses they can use up the throttle of an operation, and sellers then get rate_limit_exceeded.',
      metric: math('requests with wrong keys', 'malformed + unknown', {
        malformed: metrics.one('KeysChecked', { outcome: 'malformed' }),
        unknown: metrics.one('KeysChecked', { outcome: 'unknown' }),
      }),
      threshold: Math.ceil(
        config.keyedRoutes.requestsPerSecond * ALARM_PERIOD.toSeconds() * SHARE_OF_WRONG_KEYS,
      ),
    },
    {
      name: 'secret-refresh-failing',
      impact: 'A secret cannot be read again: functions use its last value, and new containers fail.',
      metric: metrics.one('SecretRefreshFailures', {}),
      threshold: 3,
    },
    {
      name: 'codes-rejected',
      impact: 'Many one-time codes are wrong: an attacker may be guessing, or codes arrive too late.',
      metric: requests('verify-otp', 'code_rejected'),
      threshold: 100,
    },
    {
      name: 'key-limit-used-up',
      impact:
        'Not urgent: a seller gets rate_limit_exceeded until the next hour or day. Its key may be guessing.',
      metric: metrics.one('KeyLimitsUsedUp', {}),
      threshold: 1,
    },
    {
      name: 'app-verifies-failing',
      impact:
        'The key of the buyer app failed to verify more outstanding codes than its hourly limit: an attacker may be guessing through it. The fourth log query names the key.',
      metric: metrics.one('FailedVerifiesAboveLimit', {}),
      threshold: 1,
    },
  ];
};

/** Returns the alarms of the daily ceilings and the providers of a stage. */
const configuredAlarms = ({ config, monitoring: { metrics } }: MonitoredService): readonly AlarmProps[] => {
  const { spend, providers } = config;
  const ceilings = [
    ['paid-checks-per-day', spend.paidChecksPerDay, 'linking'],
    ['sms-per-day', spend.smsPerDay, 'sending codes'],
  ] as const;
  const { view, leastCodes, leastShare } = COMPLETION;
  return [
    ...ceilings
      .filter(([, limit]) => limit !== null)
      .map(([ceiling, limit, work]) => ({
        name: `ceiling-${ceiling}`,
        section: 'ceiling-<ceiling>',
        impact: `80 % of the stage's ceiling of ${limit} is used: at 100 %, ${work} stops until midnight UTC.`,
        metric: metrics.one(
          'StageCeilingUsedPercent',
          { ceiling },
          { period: ALARM_PERIOD, statistic: 'Maximum' },
        ),
        threshold: 80,
      })),
    ...(isSandbox(providers.sms) ? [] : providers.sms).map((provider) => ({
      name: `codes-unredeemed-${provider}`,
      section: 'codes-unredeemed-<provider>',
      impact: `Less than a fifth of the codes sent through ${provider} are redeemed: messages do not arrive, or an attacker sends codes to numbers of their own.`,
      metric: math(
        'too few codes redeemed',
        // Without FILL: a comparison treats a missing value as 0 if the other series has one (CloudWatch, Using metric math).
        `IF(sent >= ${leastCodes} AND redeemed < sent * ${leastShare}, 1, 0)`,
        {
          sent: metrics.one('CodesSent', { provider }, view),
          redeemed: metrics.one('CodesRedeemed', { provider }, view),
        },
        view.period,
      ),
      threshold: 1,
    })),
    ...[...new Set([...providers.identityRegistry, ...providers.sms])].map((provider) => ({
      name: `provider-failing-${provider}`,
      section: 'provider-failing-<provider>',
      impact: `${provider} returns no results: only the next configured provider can, if there is one.`,
      // Counted even while another provider takes over.
      metric: metrics.one('ProviderFailures', { provider }),
      threshold: 5,
    })),
  ];
};

/** Returns the alarms on limits of the resources that the stage has. */
const resourceAlarms = (
  { region }: Stack,
  { config, table: { tableName: TableName }, egress }: MonitoredService,
): readonly AlarmProps[] =>
  [
    {
      name: 'table-throttled',
      impact: 'Requests are slow or fail: the table refuses reads or writes above its throughput.',
      // "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore missing data" (PutMetricAlarm), and these two have
      // data only while they count something. The consumed capacity gives every minute with traffic a value, so that the alarm ends.
      metric: math('throttled reads and writes', 'reads + writes + 0 * consumed', {
        reads: awsMetric('DynamoDB', 'ReadThrottleEvents', { TableName }),
        writes: awsMetric('DynamoDB', 'WriteThrottleEvents', { TableName }),
        consumed: awsMetric('DynamoDB', 'ConsumedReadCapacityUnits', { TableName }),
      }),
      threshold: 10,
    },
    egress && {
      name: 'nat-ports-used-up',
      impact: 'Some calls to providers fail: a NAT gateway has no port left for a connection.',
      metric: math(
        'connections without a port',
        egress.natGatewayIds.map((_, index) => `nat${index}`).join(' + '),
        Object.fromEntries(
          egress.natGatewayIds.map((NatGatewayId, index) => [
            `nat${index}`,
            awsMetric('NATGateway', 'ErrorPortAllocation', { NatGatewayId }),
          ]),
        ),
      ),
      threshold: 1,
    },
    config.firewall && {
      name: 'firewall-blocks',
      impact:
        'The firewall blocks many requests: an address floods the service, or a seller is above its limit.',
      metric: awsMetric('WAFV2', 'BlockedRequests', {
        WebACL: firewallMetricName(config.stage),
        // All rules together.
        Rule: 'ALL',
        Region: region,
      }),
      threshold: 1000,
    },
    config.domain && {
      name: 'certificate-expiring',
      impact: `The certificate of the domain ends within ${CERTIFICATE_DAYS} days and was not renewed: then no client can connect.`,
      metric: math(
        'certificate ends soon',
        `IF(days <= ${CERTIFICATE_DAYS}, 1, 0)`,
        {
          days: awsMetric(
            'CertificateManager',
            'DaysToExpiry',
            { CertificateArn: config.domain.certificateArn },
            { period: DAY, statistic: 'Minimum' },
          ),
        },
        DAY,
      ),
      threshold: 1,
    },
  ].filter((alarm) => alarm !== null && alarm !== undefined);

/** Adds the alarms of a stage. */
export const addServiceAlarms = (scope: Construct, service: MonitoredService): void => {
  const alarms = [
    ...serviceAlarms(service),
    ...configuredAlarms(service),
    ...resourceAlarms(Stack.of(scope), service),
  ];
  for (const alarm of alarms) service.monitoring.addAlarm(scope, alarm);
};
