import { STAGES } from '#lib/stages.ts';
import { allRoutes } from '#shared/routes.ts';
import { COMPLETE, EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', COMPLETE);

const everyAlarm = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);

/** The alarms of the stage. Those of a rollout end with a version, and CodeDeploy reads them. */
const all = everyAlarm.filter(({ AlarmName }) => typeof AlarmName === 'string');

/** An alarm by the end of its name. */
const alarmOf = (name: string) => all.find(({ AlarmName }) => AlarmName === `buyer-linking-prod-${name}`);

/** The logical id of the function of an operation. */
const functionOf = (operation: string): string | undefined =>
  Object.keys(resourcesOf(api, 'AWS::Lambda::Function')).find((id) =>
    id.startsWith(`${operation.replaceAll('-', '')}Function`),
  );

const dimensions = (values: Readonly<Record<string, unknown>>) =>
  Object.entries(values).map(([Name, Value]) => ({ Name, Value }));

const OURS = 'BuyerLinking/prod';
const FIVE_MINUTES = 300;

/** Alarms on one metric by name: namespace, metric, dimensions, statistic, threshold, and n of m periods of five minutes. */
const CONDITIONS = [
  ['server-errors', 'AWS/ApiGateway', '5XXError', { ApiName: 'buyer-linking-prod-api' }, 'Sum', 5, [2, 2]],
  ['operations-failing', OURS, 'UnexpectedErrors', {}, 'Sum', 3, [1, 1]],
  ['slow-responses', 'AWS/ApiGateway', 'Latency', { ApiName: 'buyer-linking-prod-api' }, 'p99', 8000, [3, 3]],
  ['functions-throttled', 'AWS/Lambda', 'Throttles', {}, 'Sum', 1, [1, 1]],
  [
    'sms-unavailable',
    OURS,
    'Requests',
    { operation: 'send-otp', outcome: 'sms_unavailable' },
    'Sum',
    5,
    [1, 1],
  ],
  ['rate-limiter-unreachable', OURS, 'RateLimiterUnreachable', {}, 'Sum', 10, [1, 1]],
  ['secret-refresh-failing', OURS, 'SecretRefreshFailures', {}, 'Sum', 3, [1, 1]],
  [
    'codes-rejected',
    OURS,
    'Requests',
    { operation: 'verify-otp', outcome: 'code_rejected' },
    'Sum',
    100,
    [1, 1],
  ],
  ['key-limit-used-up', OURS, 'KeyLimitsUsedUp', {}, 'Sum', 1, [1, 1]],
  ['app-verifies-failing', OURS, 'FailedVerifiesAboveLimit', {}, 'Sum', 1, [1, 1]],
  ['canary-key-missing', OURS, 'CanaryKeysMissing', {}, 'Sum', 1, [3, 3]],
  ['canary', 'AWS/Lambda', 'Errors', { FunctionName: { Ref: functionOf('canary') } }, 'Sum', 1, [2, 3]],
  [
    'firewall-blocks',
    'AWS/WAFV2',
    'BlockedRequests',
    { Region: { Ref: 'AWS::Region' }, Rule: 'ALL', WebACL: 'BuyerLinking-prod' },
    'Sum',
    1000,
    [1, 1],
  ],
  ...Object.entries(STAGES.prod.reservedConcurrency.functions).map(
    ([operation, reserved]) =>
      [
        `${operation}-concurrency`,
        'AWS/Lambda',
        'ConcurrentExecutions',
        { FunctionName: { Ref: functionOf(operation) } },
        'Maximum',
        reserved * 0.8,
        [1, 1],
      ] as const,
  ),
  ...['paid-checks-per-day', 'sms-per-day'].map(
    (ceiling) =>
      [`ceiling-${ceiling}`, OURS, 'StageCeilingUsedPercent', { ceiling }, 'Maximum', 80, [1, 1]] as const,
  ),
  ...[...STAGES.prod.providers.identityRegistry, ...STAGES.prod.providers.sms].map(
    (provider) =>
      [`provider-failing-${provider}`, OURS, 'ProviderFailures', { provider }, 'Sum', 5, [1, 1]] as const,
  ),
] as const;

describe('the alarms of prod', () => {
  test.each(CONDITIONS)(
    '%s: %s %s by %j, its %s at %d or above, in %j periods of five minutes',
    (name, namespace, metric, values, statistic, threshold, [breaching, evaluated]) => {
      const alarm = alarmOf(name);
      expect(alarm).toMatchObject({
        Namespace: namespace,
        MetricName: metric,
        Threshold: threshold,
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        Period: FIVE_MINUTES,
        DatapointsToAlarm: breaching,
        EvaluationPeriods: evaluated,
      });
      expect(alarm.Statistic ?? alarm.ExtendedStatistic).toBe(statistic);
      expect(alarm.Dimensions ?? []).toEqual(dimensions(values));
    },
  );

  test('on the registries count every operation that asks them', () => {
    const { Metrics, Threshold } = alarmOf('identity-registries-unavailable');
    const [{ Expression }, ...counted] = Metrics;
    const asking = allRoutes.filter(({ permissions }) => permissions.identityRegistry);
    expect({ Expression, Threshold }).toEqual({ Expression: 'links + checks', Threshold: 5 });
    expect(counted.map(({ MetricStat }: { MetricStat: unknown }) => MetricStat)).toEqual(
      asking.map(({ name: operation }) => ({
        Metric: {
          Namespace: OURS,
          MetricName: 'Requests',
          Dimensions: dimensions({ operation, outcome: 'verification_unavailable' }),
        },
        Period: FIVE_MINUTES,
        Stat: 'Sum',
      })),
    );
  });

  test('are in the table above or in a test of their own', () => {
    const listed: string[] = CONDITIONS.map(([name]) => `buyer-linking-prod-${name}`);
    const others = all.map(({ AlarmName }) => AlarmName).filter((name) => !listed.includes(name));
    expect(others.sort()).toEqual([
      ...STAGES.prod.providers.sms.map((provider) => `buyer-linking-prod-codes-unredeemed-${provider}`),
      'buyer-linking-prod-identity-registries-unavailable',
      'buyer-linking-prod-nat-ports-used-up',
      'buyer-linking-prod-table-throttled',
      'buyer-linking-prod-wrong-keys',
    ]);
  });

  test('are at most 60 with those of the rollouts', () => {
    expect(everyAlarm.length).toBeLessThanOrEqual(60);
    const { api: withEveryOption } = templatesOf('prod', EVERY_OPTION);
    const ofEveryOption = Object.keys(resourcesOf(withEveryOption, 'AWS::CloudWatch::Alarm')).length;
    expect(ofEveryOption).toBeGreaterThan(everyAlarm.length);
    expect(ofEveryOption).toBeLessThanOrEqual(60);
    // One rollout for each operation and the authorizer.
    expect(everyAlarm.length - all.length).toBe(allRoutes.length + 1);
  });

  test('on wrong keys are raised at a tenth of the throttle of an operation, which these requests use up too', () => {
    const { Metrics, Threshold } = alarmOf('wrong-keys');
    const [{ Expression }, ...counted] = Metrics;
    expect({ Expression, Threshold }).toEqual({ Expression: 'malformed + unknown', Threshold: 30_000 });
    expect(STAGES.prod.keyedRoutes.requestsPerSecond).toBe(1000);
    expect(counted.map(({ MetricStat }: { MetricStat: unknown }) => MetricStat)).toEqual(
      ['malformed', 'unknown'].map((outcome) => ({
        Metric: { Namespace: OURS, MetricName: 'KeysChecked', Dimensions: dimensions({ outcome }) },
        Period: FIVE_MINUTES,
        Stat: 'Sum',
      })),
    );
  });

  test.each([
    ['one-zone', 'nat0'],
    ['two-zones', 'nat0 + nat1'],
  ] as const)('on ports count those of every NAT gateway: %s', (staticEgress, expression) => {
    const template = templatesOf('prod', { ...COMPLETE, staticEgress }).api;
    const [alarm] = Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).filter(
      ({ Properties }) => Properties.AlarmName === 'buyer-linking-prod-nat-ports-used-up',
    );
    const [{ Expression }, ...counted] = alarm?.Properties.Metrics ?? [];
    expect({ Expression, Threshold: alarm?.Properties.Threshold }).toEqual({
      Expression: expression,
      Threshold: 1,
    });
    expect(counted.map(({ MetricStat }: { MetricStat: unknown }) => MetricStat)).toEqual(
      Object.keys(resourcesOf(template, 'AWS::EC2::NatGateway')).map((Ref) => ({
        Metric: {
          Namespace: 'AWS/NATGateway',
          MetricName: 'ErrorPortAllocation',
          Dimensions: dimensions({ NatGatewayId: { Ref } }),
        },
        Period: FIVE_MINUTES,
        Stat: 'Sum',
      })),
    );
  });

  test('on the table have a value while it is used, since alarms on DynamoDB metrics ignore missing data', () => {
    const { Metrics, Threshold } = alarmOf('table-throttled');
    expect({ expression: Metrics[0].Expression, Threshold }).toEqual({
      expression: 'reads + writes + 0 * consumed',
      Threshold: 10,
    });
    expect(
      Metrics.slice(1).map(
        ({ Id, MetricStat }: { Id: string; MetricStat: { Metric: { MetricName: string } } }) => [
          Id,
          MetricStat.Metric.MetricName,
        ],
      ),
    ).toEqual([
      ['reads', 'ReadThrottleEvents'],
      ['writes', 'WriteThrottleEvents'],
      ['consumed', 'ConsumedReadCapacityUnits'],
    ]);
  });

  test('on the certificate of a domain are raised 30 days before its end', () => {
    const { domain } = EVERY_OPTION;
    const withDomain = templatesOf('prod', EVERY_OPTION).api;
    const [alarm] = Object.values(resourcesOf(withDomain, 'AWS::CloudWatch::Alarm')).filter(
      ({ Properties }) => Properties.AlarmName === 'buyer-linking-prod-certificate-expiring',
    );
    expect(alarm?.Properties).toMatchObject({ Threshold: 1, EvaluationPeriods: 1 });
    expect(alarm?.Properties.Metrics).toMatchObject([
      { Expression: 'IF(days <= 30, 1, 0)' },
      {
        MetricStat: {
          Metric: {
            Namespace: 'AWS/CertificateManager',
            MetricName: 'DaysToExpiry',
            Dimensions: [{ Name: 'CertificateArn', Value: domain.certificateArn }],
          },
          Period: 86_400,
          Stat: 'Minimum',
        },
      },
    ]);
  });

  test('notify the topic when they are raised, except for one that is not urgent, and have no OK action, which a new alarm would run', () => {
    const [topic, ...otherTopics] = Object.keys(resourcesOf(api, 'AWS::SNS::Topic'));
    expect([topic, otherTopics]).toEqual([expect.any(String), []]);
    const silent = all.filter(({ AlarmActions }) => AlarmActions === undefined);
    expect(silent.map(({ AlarmName }) => AlarmName)).toEqual(['buyer-linking-prod-key-limit-used-up']);
    for (const { AlarmActions, OKActions } of all.filter((alarm) => !silent.includes(alarm))) {
      expect({ AlarmActions, OKActions }).toEqual({ AlarmActions: [{ Ref: topic }], OKActions: undefined });
    }
  });

  test('exist without a receiver only where CodeDeploy reads them, and so does the dashboard', () => {
    const counts = (template: typeof api) =>
      ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::Dashboard'].map(
        (type) => Object.keys(resourcesOf(template, type)).length,
      );
    expect(counts(templatesOf('dev').api)).toEqual([0, 0]);
    const unwatched = templatesOf('prod', { ...COMPLETE, alarms: null, budget: null }).api;
    expect(counts(unwatched)).toEqual([allRoutes.length + 1, 0]);
    const names = Object.values(resourcesOf(unwatched, 'AWS::CloudWatch::Alarm')).map(({ Properties }) =>
      JSON.stringify(Properties.AlarmName),
    );
    expect(names.filter((name) => !name.includes('buyer-linking-rollout-prod-'))).toEqual([]);
    expect(counts(templatesOf('dev', { alarms: COMPLETE.alarms }).api)[1]).toBe(1);
  });

  test('notify the topic once when they end after they were raised', () => {
    const [topic] = Object.keys(resourcesOf(api, 'AWS::SNS::Topic'));
    const ends = (template: typeof api) =>
      Object.values(resourcesOf(template, 'AWS::Events::Rule'))
        .map(({ Properties }) => Properties)
        .filter(({ EventPattern }) => EventPattern !== undefined);
    const [rule, ...others] = ends(api);
    expect(others).toEqual([]);
    expect(rule.EventPattern).toMatchObject({
      source: ['aws.cloudwatch'],
      'detail-type': ['CloudWatch Alarm State Change'],
      detail: {
        alarmName: [{ 'anything-but': ['buyer-linking-prod-key-limit-used-up'] }],
        state: { value: ['OK'] },
        previousState: { value: ['ALARM'] },
      },
    });
    expect(JSON.stringify(rule.EventPattern.resources[0].prefix)).toContain(':alarm:buyer-linking-prod-"');
    expect(rule.Targets).toMatchObject([{ Arn: { Ref: topic } }]);
    const { InputPathsMap, InputTemplate } = rule.Targets[0].InputTransformer;
    expect(Object.keys(JSON.parse(InputTemplate.replaceAll(/<[\w-]+>/g, '0')))).toEqual([
      'AlarmName',
      'AlarmDescription',
      'AWSAccountId',
      'Region',
      'StateChangeTime',
      'NewStateValue',
      'NewStateReason',
      'OldStateValue',
    ]);
    expect(Object.values(InputPathsMap)).toContain('$.detail.alarmName');
    expect(ends(templatesOf('dev').api)).toEqual([]);
  });
});
