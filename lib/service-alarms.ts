/**
 * The alarms of a stage, twelve kinds with that of canary/canary.ts. docs/operators/alarms.md has a row for each: what it means, and the first
 * command. test/lib/alarm-scenarios.test.ts has, for each, figures that raise it and no other.
 */
import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { CAUSE_KINDS } from '#shared/http/server-errors.ts';
import type { PortName } from '#shared/providers/call.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { AlarmProps, MonitoredService } from './alarms.ts';
import { firewallMetricName } from './firewall.ts';
import { ALARM_PERIOD, awsMetric, type LoggedMetrics, SUM } from './metrics.ts';
import { SITE_THROTTLE } from './rest-api.ts';

const DAY = Duration.days(1);

/** The period of a share, of the calls of a port or of codes: at 40 an hour it has ten of them. */
const SHARE_PERIOD = Duration.minutes(15);

/** The share of the calls of a port that raises its alarms. */
const SHARE_OF_PORT_CALLS = 0.2;

/** The least share of the codes sent that buyers redeem. */
const SHARE_OF_CODES = 0.2;

/** The share of the throttle of one operation that requests with wrong keys may use. */
const SHARE_OF_WRONG_KEYS = 1 / 10;

/** The share of the throttle of a path of the documentation site that its responses may use: two addresses at the limit of the firewall use it. */
const SHARE_OF_SITE = 1 / 2;

/** ACM renews a certificate 60 days before its end; at this number the renewal has failed for a month. */
const CERTIFICATE_DAYS = 30;

/** Arithmetic on metrics. "Missing values in a time series are treated as 0" (CloudWatch, Using metric math), unless all are missing. */
const math = (
  label: string,
  expression: string,
  usingMetrics: Readonly<Record<string, IMetric>>,
  period: Duration = ALARM_PERIOD,
): MathExpression => new MathExpression({ label, expression, usingMetrics: { ...usingMetrics }, period });

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
    metric: metrics.one('ServerErrors', { cause_kind: 'defect' }),
    threshold: alarmThresholds.internalErrors,
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

interface Port {
  readonly name: PortName;
  readonly providers: readonly string[];
  /** What sellers and buyers cannot do without it. */
  readonly impact: string;
}

/** Returns 1 while enough calls of a port, and a large enough share of them, have the value 1 in a metric. */
const shareOfPort = (
  { config: { alarmThresholds }, metrics }: MonitoredService,
  { name: port }: Port,
  metricName: 'ProvidersUnavailable' | 'ProviderTakeovers',
) => {
  const view = (statistic: string) => metrics.one(metricName, { port }, { period: SHARE_PERIOD, statistic });
  return math(
    'enough calls, and a share of them',
    `IF(calls >= ${alarmThresholds.portCalls} AND share >= ${SHARE_OF_PORT_CALLS}, 1, 0)`,
    { calls: view('Sum'), share: view('Average') },
    SHARE_PERIOD,
  );
};

/** Returns the alarms of the providers, two of each port: where none gives a result, and where not the first one does, if there are more. None for the sandbox. */
const providerAlarms = (service: MonitoredService): readonly AlarmProps[] => {
  const { identityRegistry, sms } = service.config.providers;
  const ports: readonly Port[] = [
    {
      name: 'identity-registry',
      providers: identityRegistry,
      impact: 'Sellers cannot link buyers or check users: no identity registry returns a verdict.',
    },
    {
      name: 'sms',
      providers: sms,
      impact: 'Buyers get no sign-in codes: no SMS provider accepts a message.',
    },
  ];
  return ports
    .filter(({ providers }) => !isSandbox(providers))
    .flatMap((port): AlarmProps[] => [
      {
        name: `providers-unavailable-${port.name}`,
        impact: port.impact,
        metric: shareOfPort(service, port, 'ProvidersUnavailable'),
        threshold: 1,
        periods: [1, 1],
      },
      ...(port.providers.length < 2
        ? []
        : [
            {
              name: `providers-failing-${port.name}`,
              impact: `A provider returns no results (${port.providers.join(', ')}), and another one takes over: if that fails too, nothing is left.`,
              metric: shareOfPort(service, port, 'ProviderTakeovers'),
              threshold: 1,
              periods: [1, 1] as const,
            },
          ]),
    ]);
};

/** Returns the alarm of codes that are sent and not redeemed; none with the sandbox, which sends nothing. */
const completionAlarms = ({
  config: { providers, alarmThresholds },
  metrics,
}: MonitoredService): readonly AlarmProps[] => {
  if (isSandbox(providers.sms)) return [];
  const sum = { period: SHARE_PERIOD, statistic: 'Sum' };
  const counts = providers.sms.flatMap((provider, index) => [
    [`sent${index}`, metrics.one('CodesSent', { provider }, sum)] as const,
    [`redeemed${index}`, metrics.one('CodesRedeemed', { provider }, sum)] as const,
  ]);
  // Without FILL: a comparison of two series treats a missing value as 0 if the other one has a value (CloudWatch, Using metric math).
  const tooFew = providers.sms.map(
    (_, index) =>
      `IF(sent${index} >= ${alarmThresholds.codesSent} AND redeemed${index} < sent${index} * ${SHARE_OF_CODES}, 1, 0)`,
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
        SHARE_PERIOD,
      ),
      threshold: 1,
      // A code is redeemed up to five minutes after it was sent: those of a burst at the end of a period count in the next one.
      periods: [2, 2],
    },
  ];
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
        },
      ];

/** Returns the alarms of a stage, but for that of the canary. */
export const serviceAlarms = (service: MonitoredService): readonly AlarmProps[] => [
  ...responseAlarms(service),
  ...providerAlarms(service),
  ...completionAlarms(service),
  ...abuseAlarms(service),
  ...ceilingAlarms(service),
  ...certificateAlarms(service),
];
