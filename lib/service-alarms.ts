/** The alarms of the service as a whole; api-function.ts adds those of each function. */
import { Duration } from 'aws-cdk-lib';
import type { RestApi } from 'aws-cdk-lib/aws-apigateway';
import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { AlarmProps, Monitoring } from './alarms.ts';
import type { Config } from './config.ts';
import { ALARM_PERIOD, SUM } from './metrics.ts';

type Metrics = Monitoring['metrics'];

/** The completion watch: at least this many codes sent in the period, and less than this share of them redeemed. */
const COMPLETION = { period: Duration.minutes(30), leastCodes: 20, leastShare: 0.2 } as const;

interface MonitoredService {
  readonly config: Config;
  readonly monitoring: Monitoring;
  readonly api: RestApi;
}

/** Adds the alarms of the service. */
export const addServiceAlarms = (
  scope: Construct,
  { config, monitoring: { metrics, addAlarm }, api }: MonitoredService,
): void => {
  const { providers, spend } = config;
  const { identityRegistry, sms } = providers;
  const alarms = [
    ...apiAlarms(api),
    ...availabilityAlarms(metrics),
    ...abuseAlarms(metrics),
    ...ceilingAlarms(metrics, spend),
    ...(isSandbox(sms) ? [] : sms.map((provider) => completionAlarm(metrics, provider))),
    ...[...new Set([...identityRegistry, ...sms])].flatMap((provider) => providerAlarms(metrics, provider)),
  ];
  for (const alarm of alarms) addAlarm(scope, alarm);
};

const apiAlarms = (api: RestApi): readonly AlarmProps[] => [
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
    metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...SUM }),
    threshold: 1,
  },
];

const availabilityAlarms = (metrics: Metrics): readonly AlarmProps[] => [
  {
    name: 'identity-registries-unavailable',
    impact: 'Sellers cannot link buyers: no identity registry returns a verdict.',
    metric: metrics.one('Requests', { operation: 'create-user', outcome: 'verification_unavailable' }),
    threshold: 5,
  },
  {
    name: 'sms-unavailable',
    impact: 'Buyers get no sign-in codes: no SMS provider accepts a message.',
    metric: metrics.one('Requests', { operation: 'send-otp', outcome: 'sms_unavailable' }),
    threshold: 5,
  },
  {
    name: 'rate-limiter-unreachable',
    impact: 'Requests pass without being counted: only the usage plans of API Gateway limit sellers.',
    metric: metrics.one('RateLimiterUnreachable', {}),
    threshold: 10,
  },
  {
    name: 'secret-refresh-failing',
    impact: 'A secret cannot be read again: functions use its last value, and new containers fail.',
    metric: metrics.one('SecretRefreshFailures', {}),
    threshold: 3,
  },
];

const abuseAlarms = (metrics: Metrics): readonly AlarmProps[] => [
  {
    name: 'codes-rejected',
    impact: 'Many one-time codes are wrong: an attacker may be guessing, or codes arrive too late.',
    metric: metrics.one('Requests', { operation: 'verify-otp', outcome: 'code_rejected' }),
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
      'The key of the buyer app failed to verify more codes than its hourly limit: an attacker may be guessing through it. The fourth log query names the key.',
    metric: metrics.one('FailedVerifiesAboveLimit', {}),
    threshold: 1,
  },
];

/** Returns an alarm for each daily ceiling that the config sets. */
const ceilingAlarms = (metrics: Metrics, spend: Config['spend']): readonly AlarmProps[] => {
  const ceilings = [
    ['paid-checks-per-day', spend.paidChecksPerDay, 'linking'],
    ['sms-per-day', spend.smsPerDay, 'sending codes'],
  ] as const;
  return ceilings
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
    }));
};

/** Returns the completion watch of an SMS provider: it accepts messages, but too few of their codes come back. */
const completionAlarm = (metrics: Metrics, provider: string): AlarmProps => {
  const { period, leastCodes, leastShare } = COMPLETION;
  return {
    name: `codes-unredeemed-${provider}`,
    section: 'codes-unredeemed-<provider>',
    impact: `Less than a fifth of the codes sent through ${provider} are redeemed: messages do not arrive, or an attacker sends codes to numbers of their own.`,
    metric: new MathExpression({
      // Without FILL: a comparison treats a missing value as 0 if the other series has one (CloudWatch, Using metric math).
      expression: `IF(sent >= ${leastCodes} AND redeemed < sent * ${leastShare}, 1, 0)`,
      label: 'too few codes redeemed',
      period,
      usingMetrics: {
        sent: metrics.one('CodesSent', { provider }, { period, statistic: 'Sum' }),
        redeemed: metrics.one('CodesRedeemed', { provider }, { period, statistic: 'Sum' }),
      },
    }),
    threshold: 1,
  };
};

/** Returns the alarms of one provider. They are raised even while another provider takes over. */
const providerAlarms = (metrics: Metrics, provider: string): readonly AlarmProps[] => [
  {
    name: `circuit-open-${provider}`,
    section: 'circuit-open-<provider>',
    impact: `${provider} is not called for now, because its calls kept failing; the next configured provider takes over.`,
    metric: metrics.one('CircuitChanges', { provider, state: 'open' }),
    threshold: 1,
  },
  {
    name: `unreadable-responses-${provider}`,
    section: 'unreadable-responses-<provider>',
    impact: `${provider} responds with JSON that its adapter cannot read; only the next configured provider can return a result.`,
    metric: metrics.one('UnreadableResponses', { provider }),
    threshold: 5,
  },
  {
    name: `misconfigured-${provider}`,
    section: 'misconfigured-<provider>',
    impact: `${provider} cannot be called: its section of the provider secret is missing, wrong or unreachable.`,
    metric: metrics.one('ProviderMisconfigured', { provider }),
    threshold: 1,
  },
];
