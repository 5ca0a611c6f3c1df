/**
 * The alarms of a stage, thirteen kinds with that of lib/canary.ts. docs/operators/alarms.md has a row for each: what it means, and the first
 * command. test/lib/alarm-scenarios.test.ts has, for each, figures that raise it and no other.
 */
import { Duration } from 'aws-cdk-lib';
import { TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { CAUSE_KINDS } from '#shared/http/server-errors.ts';
import { failingInAnHour, HOUR, IN_AN_HOUR, math } from './alarm-math.ts';
import type { AlarmProps, MonitoredService } from './alarms.ts';
import { firewallMetricName } from './firewall.ts';
import { ALARM_PERIOD, awsMetric, type LoggedMetrics, SUM } from './metrics.ts';
import { completionAlarms, providerAlarms } from './provider-alarms.ts';
import { SITE_THROTTLE } from './rest-api.ts';

const DAY = Duration.days(1);

/** How many operations an alarm watches: two metrics of each, of the ten that AWS accepts. */
const OPERATIONS_OF_AN_ALARM = 5;

/** The share of the throttle of one operation that requests with wrong keys may use. */
const SHARE_OF_WRONG_KEYS = 1 / 10;

/** The share of the throttle of a path of the documentation site that its responses may use: two addresses at the limit of the firewall use it. */
const SHARE_OF_SITE = 1 / 2;

/** ACM renews a certificate 45 days before its end; at this number the renewal has failed for two weeks. */
const CERTIFICATE_DAYS = 30;

/** Returns the decisions that the authorizer could not make because the table gave no answer. */
const undecidedKeys = (metrics: LoggedMetrics) => metrics.one('KeysChecked', { outcome: 'unavailable' });

/** Returns the number of responses of an operation with a code. */
const responsesOf = (metrics: LoggedMetrics, operation: string, outcome: string) =>
  metrics.one('Duration', { operation, outcome }, { period: ALARM_PERIOD, statistic: 'SampleCount' });

/** Returns the alarms of responses that fail or take long. */
const responseAlarms = ({
  api,
  config: { alarmThresholds },
  metrics,
}: MonitoredService): readonly AlarmProps[] => [
  {
    name: 'server-errors',
    impact:
      'Callers get 5xx responses that no function explains: one crashes, times out or is throttled, or the authorizer fails.',
    metric: math('5xx responses without a cause', ['responses', ...CAUSE_KINDS, 'undecided'].join(' - '), {
      responses: api.metricServerError(SUM),
      ...Object.fromEntries(
        CAUSE_KINDS.map((cause_kind) => [cause_kind, metrics.one('ServerErrors', { cause_kind })]),
      ),
      undecided: undecidedKeys(metrics),
    }),
    threshold: alarmThresholds.unexplainedErrors,
    // The counts of the log arrive after that of API Gateway, so the latest period can lack some. Of two, one ended five minutes ago.
    periods: [2, 3],
  },
  {
    name: 'operations-failing',
    impact: 'Callers get internal: an operation has a defect, or AWS denies it something.',
    // Of an hour, since each is a defect, whatever its share of the calls. The responses give an hour without a defect a value, which ends the alarm:
    // CloudWatch would evaluate the last hour that has one.
    metric: math(
      'internal responses',
      'defects + responses * 0',
      {
        defects: metrics.one('ServerErrors', { cause_kind: 'defect' }, IN_AN_HOUR),
        responses: api.metricServerError(IN_AN_HOUR),
      },
      HOUR,
    ),
    threshold: alarmThresholds.internalErrors,
    periods: [1, 1],
  },
  {
    name: 'service-unavailable',
    impact:
      'The table, KMS or Secrets Manager gives functions no answer: callers get service_unavailable, requests pass uncounted, or a rotated secret is not read.',
    metric: math('calls to AWS without an answer', 'unavailable + undecided + uncounted + unread', {
      unavailable: metrics.one('ServerErrors', { cause_kind: 'dependency' }),
      undecided: undecidedKeys(metrics),
      uncounted: metrics.one('RateLimiterUnreachable', {}),
      unread: metrics.one('SecretRefreshFailures', {}),
    }),
    threshold: alarmThresholds.callsWithoutAnswer,
  },
  {
    name: 'slow-reads',
    // Of the responses that succeed: an outage has an alarm of its own. A read calls no provider.
    impact: 'Sellers wait: one list of users in a hundred takes two seconds or more.',
    metric: metrics.one(
      'Duration',
      { operation: 'list-users', outcome: 'ok' },
      { period: ALARM_PERIOD, statistic: 'p99' },
    ),
    threshold: 2000,
    periods: [3, 3],
  },
];

/**
 * Returns the alarms of operations whose calls crash or time out, so few that they are no `server-errors`. Without the authorizer: for Lambda each key
 * that it refuses is an error. Of the alias, since a deploy invokes versions, and one that fails its check serves nobody.
 */
const crashAlarms = ({ functions }: MonitoredService): readonly AlarmProps[] => {
  const operations = functions.filter(({ name }) => name !== 'authorizer');
  const groups = Array.from({ length: Math.ceil(operations.length / OPERATIONS_OF_AN_ALARM) }, (_, index) =>
    operations.slice(index * OPERATIONS_OF_AN_ALARM, (index + 1) * OPERATIONS_OF_AN_ALARM),
  );
  return groups.map((group, index) => ({
    name: `operations-crashing-${index + 1}`,
    impact: `At least half of the calls of an operation crash or time out, of ${group.map(({ name }) => name).join(', ')}.`,
    metric: math(
      'operations that crash',
      group.map((_, number) => failingInAnHour(`crashes${number}`, `share${number}`)).join(' + '),
      Object.fromEntries(
        // Lambda records 0 or 1 for each call, so the average is a share.
        group.flatMap(({ alias }, number) => [
          [`crashes${number}`, alias.metricErrors(IN_AN_HOUR)],
          [`share${number}`, alias.metricErrors({ period: HOUR, statistic: 'Average' })],
        ]),
      ),
      HOUR,
    ),
    threshold: 1,
    periods: [1, 1] as const,
  }));
};

/** Returns the alarms of floods and of guessing. */
const abuseAlarms = ({
  config: { stage, firewall, keyedRoutes, alarmThresholds },
  api,
  metrics,
}: MonitoredService): readonly AlarmProps[] => {
  const wrongKeys = keyedRoutes.requestsPerSecond * ALARM_PERIOD.toSeconds() * SHARE_OF_WRONG_KEYS;
  const pages = SITE_THROTTLE.requestsPerSecond * ALARM_PERIOD.toSeconds() * SHARE_OF_SITE;
  return [
    {
      name: 'flood',
      impact:
        'Many requests have wrong keys, come from an address over its limit, or load the documentation site: they use up the throttle that all callers share, and cost money.',
      metric: math(
        'shares of what may be refused',
        `(malformed + unknown) / ${wrongKeys} + (pages + missing) / ${pages}${firewall === null ? '' : ` + blocked / ${alarmThresholds.requestsBlocked}`}`,
        {
          malformed: metrics.one('KeysChecked', { outcome: 'malformed' }),
          unknown: metrics.one('KeysChecked', { outcome: 'unknown' }),
          pages: responsesOf(metrics, 'get-docs', 'ok'),
          missing: responsesOf(metrics, 'get-docs', 'not_found'),
          ...(firewall !== null && {
            // Of all rules together.
            blocked: awsMetric('WAFV2', 'BlockedRequests', {
              WebACL: firewallMetricName(stage),
              Rule: 'ALL',
              Region: api.stack.region,
            }),
          }),
        },
      ),
      threshold: 1,
    },
    {
      name: 'codes-rejected',
      impact:
        "Many codes are rejected, or the buyer app's key is above its failed verifies: somebody guesses codes, or messages arrive late.",
      metric: math('wrong codes', `above + rejected / ${alarmThresholds.codesRejected}`, {
        above: metrics.one('FailedVerifiesAboveLimit', {}),
        rejected: responsesOf(metrics, 'verify-otp', 'code_rejected'),
      }),
      threshold: 1,
    },
  ];
};

/** Returns an alarm for each daily ceiling of the stage. */
const ceilingAlarms = ({ config: { spend }, metrics }: MonitoredService): readonly AlarmProps[] =>
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
      periods: [1, 1] as const,
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
          periods: [1, 1],
          // The metric stops when the certificate has ended.
          missingData: TreatMissingData.BREACHING,
        },
      ];

/** Returns the alarms of a stage, but for that of the canary. */
export const serviceAlarms = (service: MonitoredService): readonly AlarmProps[] => [
  ...responseAlarms(service),
  ...crashAlarms(service),
  ...providerAlarms(service),
  ...completionAlarms(service),
  ...abuseAlarms(service),
  ...ceilingAlarms(service),
  ...certificateAlarms(service),
];
