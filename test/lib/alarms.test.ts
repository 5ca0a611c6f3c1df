import { STAGES } from '#lib/stages.ts';
import { EVENTS } from '#shared/log.ts';
import { allRoutes } from '#shared/routes.ts';
import { COMPLETE, EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', EVERY_OPTION);
const dev = templatesOf('dev').api;

interface Metric {
  readonly Namespace: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: unknown }[];
}

interface Counted {
  readonly Id: string;
  readonly Expression?: string;
  readonly MetricStat?: { readonly Metric: Metric; readonly Period: number; readonly Stat: string };
}

interface Alarm extends Partial<Metric> {
  readonly AlarmName: string;
  readonly AlarmActions?: readonly unknown[];
  readonly OKActions?: readonly unknown[];
  readonly ComparisonOperator: string;
  readonly Threshold: number;
  readonly DatapointsToAlarm: number;
  readonly EvaluationPeriods: number;
  readonly TreatMissingData: string;
  readonly Period?: number;
  readonly Statistic?: string;
  readonly ExtendedStatistic?: string;
  readonly Metrics?: readonly Counted[];
}

const PREFIX = 'buyer-linking-prod-';

const alarmsOf = (template: typeof api): readonly Alarm[] =>
  Object.values(resourcesOf(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);

const all = alarmsOf(api);

const nameOf = ({ AlarmName }: Alarm): string => AlarmName.slice(PREFIX.length);

/** The metric as text: `Sum of BuyerLinking/prod CodesSent provider=sms-ir in 1800 s`. */
const textOf = (metric: Partial<Metric>, statistic: string | undefined, period: number | undefined): string =>
  [
    `${statistic} of ${metric.Namespace} ${metric.MetricName}`,
    ...(metric.Dimensions ?? []).map(
      ({ Name, Value }) => `${Name}=${typeof Value === 'string' ? Value : JSON.stringify(Value)}`,
    ),
    `in ${period} s`,
  ].join(' ');

/** What raises an alarm: its metric, or its expression and the metrics in it; the threshold; n of m periods. */
const conditionOf = (alarm: Alarm) => {
  const [first, ...counted] = alarm.Metrics ?? [];
  const metrics = counted.map(({ Id, MetricStat: stat }) => [
    Id,
    textOf(stat?.Metric ?? {}, stat?.Stat, stat?.Period),
  ]);
  return [
    first?.Expression ?? textOf(alarm, alarm.Statistic ?? alarm.ExtendedStatistic, alarm.Period),
    ...(first === undefined ? [] : [Object.fromEntries(metrics)]),
    alarm.Threshold,
    `${alarm.DatapointsToAlarm} of ${alarm.EvaluationPeriods}`,
  ];
};

/** The logical id of the function of the canary. */
const canary = Object.keys(resourcesOf(api, 'AWS::Lambda::Function')).find((id) => id.startsWith('canary'));

const ours = (metric: string, period = 300): string => `Sum of BuyerLinking/prod ${metric} in ${period} s`;

const LINKS = ours('Requests operation=create-user outcome=verification_unavailable');
const CHECKS = ours('Requests operation=check-user outcome=verification_unavailable');
const CODES = ours('Requests operation=send-otp outcome=sms_unavailable');
const TABLE = 'TableName={"Fn::ImportValue":"buyer-linking-prod-data:ExportsOutputRefTable';

const tooFew = (index: number): string =>
  `IF(sent${index} >= 20 AND redeemed${index} < sent${index} * 0.2, 1, 0)`;

const CONDITIONS = {
  'server-errors': [
    'responses - 2 * (links + checks + codes)',
    {
      responses: 'Sum of AWS/ApiGateway 5XXError ApiName=buyer-linking-prod-api in 300 s',
      links: LINKS,
      checks: CHECKS,
      codes: CODES,
    },
    5,
    '2 of 2',
  ],
  'operations-failing': [ours('UnexpectedErrors'), 3, '1 of 1'],
  'slow-reads': ['p99 of BuyerLinking/prod Duration operation=list-users in 300 s', 2000, '3 of 3'],
  throttled: [
    'functions + (reads + writes + 0 * consumed) / 10',
    {
      functions: 'Sum of AWS/Lambda Throttles in 300 s',
      reads: expect.stringContaining(`Sum of AWS/DynamoDB ReadThrottleEvents ${TABLE}`),
      writes: expect.stringContaining(`Sum of AWS/DynamoDB WriteThrottleEvents ${TABLE}`),
      consumed: expect.stringContaining(`Sum of AWS/DynamoDB ConsumedReadCapacityUnits ${TABLE}`),
    },
    1,
    '1 of 1',
  ],
  'aws-calls-failing': [
    'uncounted / 10 + unread / 3',
    { uncounted: ours('RateLimiterUnreachable'), unread: ours('SecretRefreshFailures') },
    1,
    '1 of 1',
  ],
  'identity-registries-unavailable': ['links + checks', { links: LINKS, checks: CHECKS }, 5, '1 of 1'],
  'sms-unavailable': [CODES, 5, '1 of 1'],
  'providers-failing': [
    'failed0 + failed1 + failed2 + failed3',
    Object.fromEntries(
      ['jibit', 'zohal', 'kavenegar', 'sms-ir'].map((provider, index) => [
        `failed${index}`,
        ours(`ProviderFailures provider=${provider}`),
      ]),
    ),
    5,
    '1 of 1',
  ],
  'codes-unredeemed': [
    `${tooFew(0)} + ${tooFew(1)}`,
    {
      sent0: ours('CodesSent provider=kavenegar', 1800),
      redeemed0: ours('CodesRedeemed provider=kavenegar', 1800),
      sent1: ours('CodesSent provider=sms-ir', 1800),
      redeemed1: ours('CodesRedeemed provider=sms-ir', 1800),
    },
    1,
    '1 of 1',
  ],
  // A tenth of the throttle of an operation, in five minutes.
  'wrong-keys': [
    'malformed + unknown',
    { malformed: ours('KeysChecked outcome=malformed'), unknown: ours('KeysChecked outcome=unknown') },
    (STAGES.prod.keyedRoutes.requestsPerSecond * 300) / 10,
    '1 of 1',
  ],
  'codes-rejected': [
    'above + rejected / 100',
    {
      above: ours('FailedVerifiesAboveLimit'),
      rejected: ours('Requests operation=verify-otp outcome=code_rejected'),
    },
    1,
    '1 of 1',
  ],
  'firewall-blocks': [
    'Sum of AWS/WAFV2 BlockedRequests Region={"Ref":"AWS::Region"} Rule=ALL WebACL=BuyerLinking-prod in 300 s',
    1000,
    '1 of 1',
  ],
  'ceiling-paid-checks-per-day': [
    'Maximum of BuyerLinking/prod StageCeilingUsedPercent ceiling=paid-checks-per-day in 300 s',
    80,
    '1 of 1',
  ],
  'ceiling-sms-per-day': [
    'Maximum of BuyerLinking/prod StageCeilingUsedPercent ceiling=sms-per-day in 300 s',
    80,
    '1 of 1',
  ],
  // 30 days before its end.
  'certificate-expiring': [
    'IF(days <= 30, 1, 0)',
    {
      days: `Minimum of AWS/CertificateManager DaysToExpiry CertificateArn=${EVERY_OPTION.domain.certificateArn} in 86400 s`,
    },
    1,
    '1 of 1',
  ],
  canary: [`Sum of AWS/Lambda Errors FunctionName={"Ref":"${canary}"} in 300 s`, 1, '2 of 3'],
};

/** Whether an event records the metric by exactly these dimensions: CloudWatch has no data of any others. */
const isRecorded = ([name, ...dimensions]: readonly string[]): boolean =>
  Object.values(EVENTS).some(({ metrics }) =>
    Object.entries(metrics).some(
      ([recorded, { dimensions: sets }]) =>
        recorded === name &&
        sets.some((set: readonly string[]) => [...set].sort().join() === [...dimensions].sort().join()),
    ),
  );

const metricsOf = ({ Metrics = [], ...own }: Alarm): readonly Partial<Metric>[] => [
  own,
  ...Metrics.map(({ MetricStat }) => MetricStat?.Metric ?? {}),
];

describe('the alarms of prod', () => {
  test('with every option are these 16, each raised at its threshold or above', () => {
    expect(Object.fromEntries(all.map((alarm) => [nameOf(alarm), conditionOf(alarm)]))).toEqual(CONDITIONS);
    expect(all.length).toBeLessThanOrEqual(16);
    const operators = alarmsOf(api).map(({ ComparisonOperator }) => ComparisonOperator);
    expect(new Set(operators)).toEqual(new Set(['GreaterThanOrEqualToThreshold']));
  });

  test('are at most two in an outage of the registries: what it changes is in two alarms, and taken off in a third', () => {
    const changes = (metric: Partial<Metric>) =>
      metric.MetricName === 'ProviderFailures' ||
      metric.MetricName === '5XXError' ||
      JSON.stringify(metric.Dimensions ?? []).includes('verification_unavailable');
    const raised = all.filter((alarm) => metricsOf(alarm).some(changes)).map(nameOf);
    expect(raised.sort()).toEqual([
      'identity-registries-unavailable',
      'providers-failing',
      // Its expression takes more off than the outage adds.
      'server-errors',
    ]);
  });

  test('read metrics that an event records by these dimensions', () => {
    const used = alarmsOf(api)
      .flatMap(metricsOf)
      .filter(({ Namespace }) => Namespace === 'BuyerLinking/prod')
      .map(({ MetricName, Dimensions = [] }) => [String(MetricName), ...Dimensions.map(({ Name }) => Name)]);
    expect(used.length).toBeGreaterThan(20);
    expect(used.filter((metric) => !isRecorded(metric))).toEqual([]);
  });

  test('treat missing data as a failure for the canary, as no news for a ceiling, and as good for the others', () => {
    const treatments = Map.groupBy(all, ({ TreatMissingData }) => TreatMissingData);
    expect(treatments.get('breaching')?.map(nameOf)).toEqual(['canary']);
    expect(treatments.get('ignore')?.map(nameOf)).toEqual([
      'ceiling-paid-checks-per-day',
      'ceiling-sms-per-day',
    ]);
    expect(treatments.get('notBreaching')).toHaveLength(all.length - 3);
  });

  test('notify the topic when they are raised, and have no OK action, which a new alarm would run', () => {
    const [topic, ...otherTopics] = Object.keys(resourcesOf(api, 'AWS::SNS::Topic'));
    expect([topic, otherTopics]).toEqual([expect.any(String), []]);
    for (const { AlarmActions, OKActions } of all) {
      expect({ AlarmActions, OKActions }).toEqual({ AlarmActions: [{ Ref: topic }], OKActions: undefined });
    }
  });

  test('exist only with a receiver, and so does the dashboard', () => {
    const dashboards = (template: typeof api) =>
      Object.keys(resourcesOf(template, 'AWS::CloudWatch::Dashboard')).length;
    expect([alarmsOf(dev), dashboards(dev)]).toEqual([[], 0]);
    const { api: unwatched } = templatesOf('prod', { ...COMPLETE, alarms: null });
    expect([alarmsOf(unwatched), dashboards(unwatched)]).toEqual([[], 0]);
    expect(dashboards(api)).toBe(1);
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
      detail: { state: { value: ['OK'] }, previousState: { value: ['ALARM'] } },
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
    expect(ends(dev)).toEqual([]);
  });
});

describe('the dashboard', () => {
  const [dashboard] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Dashboard'));
  const body: string = dashboard?.Properties.DashboardBody['Fn::Join'][1]
    .map((part: unknown) => (typeof part === 'string' ? part : 'x'))
    .join('');

  test('shows traffic by operation and plan, responses by code, providers and the table', () => {
    const shown = [
      ...allRoutes.map(({ name }) => name),
      '"plan',
      'operation,outcome',
      'provider,provider_operation,outcome',
      'ConsumedWriteCapacityUnits',
    ];
    expect(shown.filter((text) => !body.includes(text))).toEqual([]);
  });

  interface Graph {
    readonly properties: { readonly metrics?: readonly (readonly [unknown, string, ...unknown[]])[] };
  }

  /** The metrics that the graphs read, each as its name and its dimensions. */
  const read = (JSON.parse(body).widgets as readonly Graph[])
    .flatMap(({ properties: { metrics = [] } }) => metrics)
    .flatMap(([first, name, ...rest]) => {
      const { expression = '' } = (first ?? {}) as { expression?: string };
      const search =
        /^SEARCH\('\{BuyerLinking\/prod,?([^}]*)\} MetricName="(\w+)"', '(?:Sum|p99)', 60\)$/.exec(
          expression,
        );
      if (search !== null) return [[String(search[2]), ...String(search[1]).split(',')]];
      if (first !== 'BuyerLinking/prod') return [];
      const dimensions = rest.filter((each, index) => index % 2 === 0 && typeof each === 'string');
      return [[name, ...dimensions.map(String)]];
    });

  test('shows metrics that an event records by these dimensions', () => {
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((metric) => !isRecorded(metric))).toEqual([]);
  });

  test('and the alarms read every metric that an event records, since CloudWatch bills each', () => {
    const byAlarms = alarmsOf(api)
      .flatMap(metricsOf)
      .map(({ MetricName, Dimensions = [] }) => [String(MetricName), ...Dimensions.map(({ Name }) => Name)]);
    const used = new Set(
      [...read, ...byAlarms].map(([name, ...dimensions]) => [name, ...dimensions.sort()].join()),
    );
    const recorded = Object.values(EVENTS).flatMap(({ metrics }) =>
      Object.entries(metrics).flatMap(([name, { dimensions }]) =>
        dimensions.map((set: readonly string[]) => [name, ...[...set].sort()].join()),
      ),
    );
    expect(recorded.length).toBeGreaterThan(10);
    expect(recorded.filter((metric) => !used.has(metric))).toEqual([]);
  });

  test('shows every alarm', () => {
    const { widgets }: { widgets: { type: string; properties: { alarms: string[] } }[] } = JSON.parse(body);
    const shown = widgets.flatMap(({ type, properties }) => (type === 'alarm' ? properties.alarms : []));
    expect(shown).toHaveLength(all.length);
  });
});
