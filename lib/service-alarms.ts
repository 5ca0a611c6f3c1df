import { Duration } from 'aws-cdk-lib';
import { type IMetric, MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { ALARM_PERIOD, type MakeAlarm } from './alarms.ts';
import type { Config } from './config.ts';
import type { LoggedMetrics } from './metrics.ts';

const SUM = { period: ALARM_PERIOD, statistic: 'Sum' } as const;
const MAXIMUM = { period: ALARM_PERIOD, statistic: 'Maximum' } as const;

/** The completion watch: at least this many codes sent in the period, and less than this share of them redeemed. */
const COMPLETION = { period: Duration.minutes(30), leastCodes: 20, leastShare: 0.2 } as const;

interface MonitoredService {
  readonly config: Config;
  readonly makeAlarm: MakeAlarm;
  readonly metrics: LoggedMetrics;
  /** 5xx responses of API Gateway, whether made by a function or by API Gateway itself. */
  readonly serverErrors: IMetric;
  readonly latency: IMetric;
}

const responses = ({ metrics }: MonitoredService, operation: string, outcome: string) =>
  metrics.one('request_completed', 'Requests', { operation, outcome }, SUM);

/** Adds the alarms of the service as a whole; api-function.ts adds those of each function. */
export const addServiceAlarms = (scope: Construct, service: MonitoredService): void => {
  addApiAlarms(scope, service);
  addAvailabilityAlarms(scope, service);
  addAbuseAlarms(scope, service);
  addCeilingAlarms(scope, service);
  const { completionWatch, providers } = service.config;
  const { identityRegistry, sms } = providers;
  for (const provider of completionWatch ? sms : []) addCompletionAlarm(scope, service, provider);
  for (const provider of new Set([...identityRegistry, ...sms])) addProviderAlarms(scope, service, provider);
};

const addApiAlarms = (scope: Construct, { makeAlarm, serverErrors, latency }: MonitoredService): void => {
  makeAlarm(scope, {
    name: 'server-errors',
    impact:
      'Callers get 5xx responses: a function fails, the authorizer fails, or a provider is unavailable.',
    metric: serverErrors,
    threshold: 5,
    periods: [2, 2],
  });
  makeAlarm(scope, {
    name: 'slow-responses',
    impact: 'One request in a hundred takes eight seconds or more.',
    metric: latency,
    threshold: 8000,
    periods: [3, 3],
  });
  makeAlarm(scope, {
    name: 'functions-throttled',
    impact: 'Callers get 5xx responses: Lambda has no concurrency left for a function.',
    // Without dimensions the metric covers every function of the account and Region, which share one limit.
    metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...SUM }),
    threshold: 1,
  });
};

const addAvailabilityAlarms = (scope: Construct, service: MonitoredService): void => {
  const { makeAlarm, metrics } = service;
  makeAlarm(scope, {
    name: 'identity-registries-unavailable',
    impact: 'Sellers cannot link buyers: no identity registry returns a verdict.',
    metric: responses(service, 'create-user', 'verification_unavailable'),
    threshold: 5,
  });
  makeAlarm(scope, {
    name: 'sms-unavailable',
    impact: 'Buyers get no sign-in codes: no SMS provider accepts a message.',
    metric: responses(service, 'send-otp', 'sms_unavailable'),
    threshold: 5,
  });
  makeAlarm(scope, {
    name: 'rate-limiter-unreachable',
    impact: 'Requests pass without being counted: only the usage plans of API Gateway limit sellers.',
    metric: metrics.one('rate_limiter_unreachable', 'RateLimiterUnreachable', {}, SUM),
    threshold: 10,
  });
  makeAlarm(scope, {
    name: 'secret-refresh-failing',
    impact: 'A secret cannot be read again: functions use its last value, and new containers fail.',
    metric: metrics.one('secret_refresh_failed', 'SecretRefreshFailures', {}, SUM),
    threshold: 3,
  });
};

const addAbuseAlarms = (scope: Construct, service: MonitoredService): void => {
  const { makeAlarm, metrics } = service;
  makeAlarm(scope, {
    name: 'codes-rejected',
    impact: 'Many one-time codes are wrong: an attacker may be guessing, or codes arrive too late.',
    metric: responses(service, 'verify-otp', 'code_rejected'),
    threshold: 100,
  });
  makeAlarm(scope, {
    name: 'app-verifies-failing',
    impact:
      'The buyer app fails to verify more codes than its hourly limit: an attacker may be guessing through it.',
    metric: metrics.one('failed_verifies_above_limit', 'FailedVerifiesAboveLimit', {}, SUM),
    threshold: 1,
  });
};

/** Adds an alarm for each daily ceiling that the config sets. */
const addCeilingAlarms = (
  scope: Construct,
  { config: { spend }, makeAlarm, metrics }: MonitoredService,
): void => {
  const ceilings = [
    {
      ceiling: 'paid-checks-per-day',
      limit: spend.paidChecksPerDay,
      effect: 'linking stops until midnight UTC',
    },
    { ceiling: 'sms-per-day', limit: spend.smsPerDay, effect: 'sending codes stops until midnight UTC' },
  ];
  for (const { ceiling, limit, effect } of ceilings.filter((each) => each.limit !== null)) {
    makeAlarm(scope, {
      name: `ceiling-${ceiling}`,
      section: 'ceiling-<ceiling>',
      impact: `80 % of the stage's ceiling of ${limit} is used: at 100 %, ${effect}.`,
      metric: metrics.one('stage_ceiling_counted', 'StageCeilingUsedPercent', { ceiling }, MAXIMUM),
      threshold: 80,
    });
  }
};

/** Adds the completion watch of an SMS provider: it accepts messages, but too few of their codes come back. */
const addCompletionAlarm = (
  scope: Construct,
  { makeAlarm, metrics }: MonitoredService,
  provider: string,
): void => {
  const { period, leastCodes, leastShare } = COMPLETION;
  const view = { period, statistic: 'Sum' } as const;
  makeAlarm(scope, {
    name: `codes-unredeemed-${provider}`,
    section: 'codes-unredeemed-<provider>',
    impact: `Less than a fifth of the codes sent through ${provider} are redeemed: messages do not arrive, or an attacker sends codes to numbers of their own.`,
    metric: new MathExpression({
      expression: `IF(sent >= ${leastCodes} AND FILL(redeemed, 0) < sent * ${leastShare}, 1, 0)`,
      label: 'too few codes redeemed',
      period,
      usingMetrics: {
        sent: metrics.one('code_sent', 'CodesSent', { provider }, view),
        redeemed: metrics.one('code_redeemed', 'CodesRedeemed', { provider }, view),
      },
    }),
    threshold: 1,
  });
};

/** Adds the alarms of one provider. They are raised even while another provider takes over. */
const addProviderAlarms = (
  scope: Construct,
  { makeAlarm, metrics }: MonitoredService,
  provider: string,
): void => {
  makeAlarm(scope, {
    name: `circuit-open-${provider}`,
    section: 'circuit-open-<provider>',
    impact: `${provider} is not called for now, because its calls kept failing; the next configured provider takes over.`,
    metric: metrics.one('circuit_changed', 'CircuitChanges', { provider, state: 'open' }, SUM),
    threshold: 1,
  });
  makeAlarm(scope, {
    name: `misconfigured-${provider}`,
    section: 'misconfigured-<provider>',
    impact: `${provider} cannot be called: its section of the provider secret is missing, wrong or unreachable.`,
    metric: metrics.one('provider_misconfigured', 'ProviderMisconfigured', { provider }, SUM),
    threshold: 1,
  });
};
