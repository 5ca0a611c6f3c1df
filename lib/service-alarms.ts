/** The alarms of a stage; canary/canary.ts adds its own. docs/operators/operations.md has a row for each: what it means, and the first command. */
import { Duration, Stack } from 'aws-cdk-lib';
import { type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { AlarmProps, MonitoredService } from './alarms.ts';
import { firewallMetricName } from './firewall.ts';
import { ALARM_PERIOD, awsMetric, type LoggedMetrics, SUM } from './metrics.ts';

const DAY = Duration.days(1);

/** The completion watch: at least this many codes sent in the period, and less than this share of them redeemed. */
const COMPLETION = {
  view: { period: Duration.minutes(30), statistic: 'Sum' },
  leastCodes: 20,
  leastShare: 0.2,
} as const;

/** The share of the throttle of one operation that requests with wrong keys may use. */
const SHARE_OF_WRONG_KEYS = 1 / 10;

/** ACM renews a certificate 60 days before its end; at this number the renewal has failed for a month. */
const CERTIFICATE_DAYS = 30;

/** Arithmetic on metrics. "Missing values in a time series are treated as 0" (CloudWatch, Using metric math), unless all are missing. */
const math = (
  label: string,
  expression: string,
  usingMetrics: Readonly<Record<string, IMetric>>,
  period: Duration = ALARM_PERIOD,
): MathExpression => new MathExpression({ label, expression, usingMetrics: { ...usingMetrics }, period });

/** Returns the responses that an outage of a provider explains, by the port that they need. */
const unavailable = (metrics: LoggedMetrics) => {
  const responses = (operation: string, outcome: string) => metrics.one('Requests', { operation, outcome });
  return {
    links: responses('create-user', 'verification_unavailable'),
    checks: responses('check-user', 'verification_unavailable'),
    codes: responses('send-otp', 'sms_unavailable'),
  };
};

/** Returns the alarms of responses that fail or take long. */
const responseAlarms = ({ api, monitoring: { metrics } }: MonitoredService): readonly AlarmProps[] => [
  {
    name: 'server-errors',
    impact: 'Callers get 5xx responses, and no outage of a provider explains them.',
    // Those of an outage count twice: their metrics may arrive a minute after that of API Gateway, and must not leave a rest.
    metric: math('5xx responses without a provider', 'responses - 2 * (links + checks + codes)', {
      responses: api.metricServerError(SUM),
      ...unavailable(metrics),
    }),
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
    name: 'slow-reads',
    // A read calls no provider, so an outage of one does not raise this.
    impact: 'Sellers wait: one list of users in a hundred takes two seconds or more.',
    metric: metrics.one('Duration', { operation: 'list-users' }, { period: ALARM_PERIOD, statistic: 'p99' }),
    threshold: 2000,
    periods: [3, 3],
  },
];

/** Returns the alarms of the AWS services that the functions use. */
const resourceAlarms = ({
  table: { tableName: TableName },
  monitoring: { metrics },
}: MonitoredService): readonly AlarmProps[] => [
  {
    name: 'throttled',
    impact:
      'Callers get 5xx responses or wait: Lambda has no concurrency left for a function, or the table refuses reads or writes.',
    // One throttled function, or ten throttled calls of the table. "Alarms that evaluate metrics in the AWS/DynamoDB namespace always ignore
    // missing data" (PutMetricAlarm). The consumed capacity gives every minute with traffic a value, so that the alarm ends.
    metric: math('throttles', 'functions + (reads + writes + 0 * consumed) / 10', {
      // Without dimensions the metric covers every function of the account and Region, which share one limit.
      functions: awsMetric('Lambda', 'Throttles', {}),
      reads: awsMetric('DynamoDB', 'ReadThrottleEvents', { TableName }),
      writes: awsMetric('DynamoDB', 'WriteThrottleEvents', { TableName }),
      consumed: awsMetric('DynamoDB', 'ConsumedReadCapacityUnits', { TableName }),
    }),
    threshold: 1,
  },
  {
    name: 'aws-calls-failing',
    impact:
      'Functions go on without an answer of AWS: requests pass without being counted, or a secret keeps its last value and new containers fail.',
    // Ten requests that were not counted, or three failed reads of a secret.
    metric: math('calls without an answer', 'uncounted / 10 + unread / 3', {
      uncounted: metrics.one('RateLimiterUnreachable', {}),
      unread: metrics.one('SecretRefreshFailures', {}),
    }),
    threshold: 1,
  },
];

/** Returns the alarms of the providers: an outage of the registries raises the first and the third, one of the SMS providers the other two. */
const providerAlarms = ({
  config: { providers },
  monitoring: { metrics },
}: MonitoredService): readonly AlarmProps[] => {
  const { links, checks, codes } = unavailable(metrics);
  const all = [...new Set([...providers.identityRegistry, ...providers.sms])];
  return [
    {
      name: 'identity-registries-unavailable',
      impact: 'Sellers cannot link buyers or check users: no identity registry returns a verdict.',
      metric: math('requests without a verdict', 'links + checks', { links, checks }),
      threshold: 5,
    },
    {
      name: 'sms-unavailable',
      impact: 'Buyers get no sign-in codes: no SMS provider accepts a message.',
      metric: codes,
      threshold: 5,
    },
    {
      name: 'providers-failing',
      impact: `A provider returns no results (${all.join(', ')}): only the next configured provider of its port can, if there is one.`,
      // Counted even while another provider takes over.
      metric: math(
        'calls without a result',
        all.map((_, index) => `failed${index}`).join(' + '),
        Object.fromEntries(
          all.map((provider, index) => [`failed${index}`, metrics.one('ProviderFailures', { provider })]),
        ),
      ),
      threshold: 5,
    },
  ];
};

/** Returns the alarm of codes that are sent and not redeemed; none with the sandbox, which sends nothing. */
const completionAlarms = ({
  config: { providers },
  monitoring: { metrics },
}: MonitoredService): readonly AlarmProps[] => {
  if (isSandbox(providers.sms)) return [];
  const { view, leastCodes, leastShare } = COMPLETION;
  const counts = providers.sms.flatMap((provider, index) => [
    [`sent${index}`, metrics.one('CodesSent', { provider }, view)] as const,
    [`redeemed${index}`, metrics.one('CodesRedeemed', { provider }, view)] as const,
  ]);
  // Without FILL: a comparison treats a missing value as 0 if the other series has one (CloudWatch, Using metric math).
  const tooFew = providers.sms.map(
    (_, index) =>
      `IF(sent${index} >= ${leastCodes} AND redeemed${index} < sent${index} * ${leastShare}, 1, 0)`,
  );
  return [
    {
      name: 'codes-unredeemed',
      impact:
        'Less than a fifth of the codes sent through a provider are redeemed: messages do not arrive, or an attacker sends codes to numbers of their own.',
      metric: math(
        'providers with too few codes redeemed',
        tooFew.join(' + '),
        Object.fromEntries(counts),
        view.period,
      ),
      threshold: 1,
    },
  ];
};

/** Returns the alarms of floods and of guessing. */
const abuseAlarms = (
  { region }: Stack,
  { config, monitoring: { metrics } }: MonitoredService,
): readonly AlarmProps[] => [
  {
    name: 'wrong-keys',
    impact:
      'Many requests have malformed or unknown keys: from many addresses they can use up the throttle of an operation, and sellers then get rate_limit_exceeded.',
    metric: math('requests with wrong keys', 'malformed + unknown', {
      malformed: metrics.one('KeysChecked', { outcome: 'malformed' }),
      unknown: metrics.one('KeysChecked', { outcome: 'unknown' }),
    }),
    threshold: Math.ceil(
      config.keyedRoutes.requestsPerSecond * ALARM_PERIOD.toSeconds() * SHARE_OF_WRONG_KEYS,
    ),
  },
  {
    name: 'codes-rejected',
    impact:
      'Many one-time codes are wrong, or the key of the buyer app failed to verify more outstanding codes than its hourly limit: an attacker may be guessing, or codes arrive too late.',
    // A hundred wrong codes, or one failed verify above the limit of the app, which is not refused.
    metric: math('wrong codes', 'above + rejected / 100', {
      above: metrics.one('FailedVerifiesAboveLimit', {}),
      rejected: metrics.one('Requests', { operation: 'verify-otp', outcome: 'code_rejected' }),
    }),
    threshold: 1,
  },
  ...(config.firewall === null
    ? []
    : [
        {
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
      ]),
];

/** Returns an alarm for each daily ceiling of the stage. */
const ceilingAlarms = ({
  config: { spend },
  monitoring: { metrics },
}: MonitoredService): readonly AlarmProps[] =>
  (
    [
      ['paid-checks-per-day', spend.paidChecksPerDay, 'linking'],
      ['sms-per-day', spend.smsPerDay, 'sending codes'],
    ] as const
  )
    .filter(([, limit]) => limit !== null)
    .map(([ceiling, limit, work]) => ({
      name: `ceiling-${ceiling}`,
      impact: `80 % of the stage's ceiling of ${limit} is used: at 100 %, ${work} stops until midnight UTC.`,
      metric: metrics.one(
        'StageCeilingUsedPercent',
        { ceiling },
        { period: ALARM_PERIOD, statistic: 'Maximum' },
      ),
      threshold: 80,
      // There is a value only when something is counted. The state stays until the next one, so that a quiet period does not end the alarm.
      missingData: TreatMissingData.IGNORE,
    }));

/** Returns the alarm of the certificate of a domain, if the stage has one. */
const certificateAlarms = ({ config: { domain } }: MonitoredService): readonly AlarmProps[] =>
  domain === null
    ? []
    : [
        {
          name: 'certificate-expiring',
          impact: `The certificate of the domain ends within ${CERTIFICATE_DAYS} days and was not renewed: then no client can connect.`,
          metric: math(
            'certificate ends soon',
            `IF(days <= ${CERTIFICATE_DAYS}, 1, 0)`,
            {
              days: awsMetric(
                'CertificateManager',
                'DaysToExpiry',
                { CertificateArn: domain.certificateArn },
                { period: DAY, statistic: 'Minimum' },
              ),
            },
            DAY,
          ),
          threshold: 1,
        },
      ];

/** Adds the alarms of a stage. */
export const addServiceAlarms = (scope: Construct, service: MonitoredService): void => {
  const alarms = [
    ...responseAlarms(service),
    ...resourceAlarms(service),
    ...providerAlarms(service),
    ...completionAlarms(service),
    ...abuseAlarms(Stack.of(scope), service),
    ...ceilingAlarms(service),
    ...certificateAlarms(service),
  ];
  for (const alarm of alarms) service.monitoring.addAlarm(scope, alarm);
};
