import { type IMetric, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { Construct } from 'constructs';
import { ALARM_PERIOD, type MakeAlarm } from './alarms.ts';
import type { Config } from './config.ts';
import type { LoggedMetrics } from './metrics.ts';

const SUM = { period: ALARM_PERIOD, statistic: 'Sum' } as const;

interface WatchedService {
  readonly config: Config;
  readonly makeAlarm: MakeAlarm;
  readonly metrics: LoggedMetrics;
  /** Answers of 5xx that API Gateway gave, its own and the functions'. */
  readonly serverErrors: IMetric;
  readonly latency: IMetric;
}

const refusals = ({ metrics }: WatchedService, operation: string, outcome: string) =>
  metrics.one('request_completed', 'Requests', { operation, outcome }, SUM);

/** The alarms of the service as a whole; each function has its own besides, see api-function.ts. */
export const addServiceAlarms = (scope: Construct, service: WatchedService): void => {
  const { makeAlarm, metrics } = service;
  makeAlarm(scope, {
    name: 'server-errors',
    impact:
      'Callers get 5xx responses: a function does not start or end, or the authorizer fails, or a provider is out.',
    metric: service.serverErrors,
    threshold: 5,
    periods: [2, 2],
  });
  makeAlarm(scope, {
    name: 'slow-answers',
    impact: 'One caller in a hundred waits for eight seconds or more.',
    metric: service.latency,
    threshold: 8000,
    periods: [3, 3],
  });
  makeAlarm(scope, {
    name: 'identity-registries-out',
    impact: 'Sellers cannot link buyers: no identity registry gives a verdict.',
    metric: refusals(service, 'create-user', 'verification_unavailable'),
    threshold: 5,
  });
  makeAlarm(scope, {
    name: 'sms-out',
    impact: 'Buyers get no sign-in codes: no SMS provider takes a message.',
    metric: refusals(service, 'send-otp', 'sms_unavailable'),
    threshold: 5,
  });
  makeAlarm(scope, {
    name: 'functions-throttled',
    impact: 'Callers get 5xx responses: more functions want to run at once than the account may run.',
    // Without dimensions it counts every function of the account and Region: the limit is theirs together.
    metric: new Metric({ namespace: 'AWS/Lambda', metricName: 'Throttles', ...SUM }),
    threshold: 1,
  });
  addProviderAlarms(scope, service);
  makeAlarm(scope, {
    name: 'rate-limiter-unreachable',
    impact: 'Requests pass uncounted: only the usage plans of API Gateway hold sellers to their limits.',
    metric: metrics.one('rate_limiter_unreachable', 'RateLimiterUnreachable', {}, SUM),
    threshold: 10,
  });
  makeAlarm(scope, {
    name: 'codes-rejected',
    impact: 'Many wrong one-time codes: somebody may be guessing, or codes reach buyers too late.',
    metric: refusals(service, 'verify-otp', 'code_rejected'),
    threshold: 100,
  });
};

/** What every provider of the config can suffer by itself, also while another one serves in its place. */
const addProviderAlarms = (scope: Construct, { config, makeAlarm, metrics }: WatchedService): void => {
  for (const provider of new Set([...config.providers.identityRegistry, ...config.providers.sms])) {
    makeAlarm(scope, {
      name: `circuit-open-${provider}`,
      impact: `${provider} is not called for now, since it kept failing; where another provider is configured, that one serves.`,
      metric: metrics.one('circuit_changed', 'CircuitChanges', { provider, state: 'open' }, SUM),
      threshold: 1,
    });
    makeAlarm(scope, {
      name: `misconfigured-${provider}`,
      impact: `${provider} cannot be asked at all: its section of the provider secret is missing, wrong or out of reach.`,
      metric: metrics.one('provider_misconfigured', 'ProviderMisconfigured', { provider }, SUM),
      threshold: 1,
    });
  }
};
