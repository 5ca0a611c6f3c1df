/** The alarms of the providers, and of the codes that they send. */
import { Duration } from 'aws-cdk-lib';
import type { PortName } from '#shared/providers/call.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { FAILURES_IN_AN_HOUR, failingInAnHour, HOUR, math, SHARE_IN_AN_HOUR } from './alarm-math.ts';
import type { AlarmProps, MonitoredService } from './alarms.ts';
import type { Config } from './config.ts';
import type { LoggedMetrics } from './metrics.ts';

/** The period of a share, of the calls of a port or of codes: at 40 an hour it has ten of them. */
const SHARE_PERIOD = Duration.minutes(15);

/** The share of the calls of a port that raises its alarms. */
const SHARE_OF_PORT_CALLS = 0.2;

/** The least share of the codes sent that buyers redeem. */
const SHARE_OF_CODES = 0.2;

/** One code in each third of an hour that is not redeemed: three in all. */
const THIRD_OF_AN_HOUR = Duration.minutes(20);

interface Port {
  readonly name: PortName;
  readonly providers: readonly string[];
  /** What sellers and buyers cannot do without it. */
  readonly impact: string;
}

/** Returns the number of calls of a port that have the value 1 in a metric, and their share of the calls. */
const callsOfPort = (
  metrics: LoggedMetrics,
  { name: port }: Port,
  metricName: 'ProvidersUnavailable' | 'ProviderTakeovers',
  period: Duration,
) => ({
  calls: metrics.one(metricName, { port }, { period, statistic: 'Sum' }),
  share: metrics.one(metricName, { port }, { period, statistic: 'Average' }),
});

const portsOf = ({ providers: { identityRegistry, sms } }: Config): readonly Port[] => {
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
  return ports.filter(({ providers }) => !isSandbox(providers));
};

/** Returns the alarm of all ports in an hour; none for the sandbox. */
const hourlyProviderAlarms = ({ config, metrics }: MonitoredService): readonly AlarmProps[] => {
  const ports = portsOf(config).map((port, index) => {
    const { calls, share } = callsOfPort(metrics, port, 'ProvidersUnavailable', HOUR);
    return {
      expression: failingInAnHour(`calls${index}`, `share${index}`),
      metrics: { [`calls${index}`]: calls, [`share${index}`]: share },
    };
  });
  if (ports.length === 0) return [];
  return [
    {
      name: 'providers-unavailable-hourly',
      impact:
        'Sellers cannot link buyers, or buyers get no sign-in codes: no provider of a port gives a result.',
      metric: math(
        'ports without a result',
        ports.map(({ expression }) => expression).join(' + '),
        Object.assign({}, ...ports.map((port) => port.metrics)),
        HOUR,
      ),
      threshold: 1,
      periods: [1, 1],
    },
  ];
};

/** Returns the alarms of the providers: where none gives a result, and where not the first one does, if there are more. None for the sandbox. */
export const providerAlarms = (service: MonitoredService): readonly AlarmProps[] => {
  const { config, metrics } = service;
  const shareOf = (port: Port, metricName: 'ProvidersUnavailable' | 'ProviderTakeovers') => ({
    metric: math(
      'enough calls, and a share of them',
      `IF(calls >= ${config.alarmThresholds.portCalls} AND share >= ${SHARE_OF_PORT_CALLS}, 1, 0)`,
      callsOfPort(metrics, port, metricName, SHARE_PERIOD),
      SHARE_PERIOD,
    ),
    threshold: 1,
    periods: [1, 1] as const,
  });
  return [
    ...portsOf(config).flatMap((port): AlarmProps[] => [
      {
        name: `providers-unavailable-${port.name}`,
        impact: port.impact,
        ...shareOf(port, 'ProvidersUnavailable'),
      },
      ...(port.providers.length < 2
        ? []
        : [
            {
              name: `providers-failing-${port.name}`,
              impact: `A provider returns no results (${port.providers.join(', ')}), and another one takes over: if that fails too, nothing is left.`,
              ...shareOf(port, 'ProviderTakeovers'),
            },
          ]),
    ]),
    ...hourlyProviderAlarms(service),
  ];
};

/** Returns the number of providers for which a condition on codes holds. `sent` and `redeemed` stand for the numbers of codes of a provider. */
const providersWhere = (
  condition: string,
  { config: { providers }, metrics }: MonitoredService,
  period: Duration,
) => {
  const sum = { period, statistic: 'Sum' };
  return math(
    'providers with too few codes redeemed',
    // Without FILL: a comparison of two series treats a missing value as 0 if the other one has a value (CloudWatch, Using metric math).
    providers.sms
      .map((_, index) => `IF(${condition.replaceAll(/sent|redeemed/g, `$&${index}`)}, 1, 0)`)
      .join(' + '),
    Object.fromEntries(
      providers.sms.flatMap((provider, index) => [
        [`sent${index}`, metrics.one('CodesSent', { provider }, sum)] as const,
        [`redeemed${index}`, metrics.one('CodesRedeemed', { provider }, sum)] as const,
      ]),
    ),
    period,
  );
};

/**
 * Returns the alarms of codes that are sent and not redeemed; none with the sandbox, which sends nothing. A code is redeemed up to five
 * minutes after it was sent: those of a burst at the end of a period count in the next one, so more than one period must have too few.
 */
export const completionAlarms = (service: MonitoredService): readonly AlarmProps[] => {
  const { providers, alarmThresholds } = service.config;
  if (isSandbox(providers.sms)) return [];
  const enough = `sent >= ${alarmThresholds.codesSent} AND redeemed < sent * ${SHARE_OF_CODES}`;
  return [
    {
      name: 'codes-unredeemed',
      impact:
        'Less than a fifth of the codes sent through a provider are redeemed: messages do not arrive, or an attacker sends codes to numbers of their own.',
      metric: providersWhere(enough, service, SHARE_PERIOD),
      threshold: 1,
      periods: [2, 2],
    },
    {
      name: 'codes-unredeemed-hourly',
      impact:
        'For an hour less than half of the codes sent through a provider are redeemed: messages do not arrive.',
      metric: providersWhere(`redeemed < sent * ${SHARE_IN_AN_HOUR}`, service, THIRD_OF_AN_HOUR),
      threshold: 1,
      periods: [FAILURES_IN_AN_HOUR, FAILURES_IN_AN_HOUR],
    },
  ];
};
