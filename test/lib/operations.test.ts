import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { STAGES } from '#lib/stages.ts';
import { EVENTS } from '#shared/log.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', EVERY_OPTION);
const dev = templatesOf('dev').api;

const runbook = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: readonly unknown[];
  readonly TreatMissingData: string;
  readonly Threshold: number;
  readonly Namespace?: string;
  readonly Dimensions?: readonly { readonly Name: string; readonly Value: string }[];
  readonly Metrics?: readonly {
    readonly Expression?: string;
    readonly MetricStat?: { readonly Metric: { readonly Namespace: string } };
  }[];
}

const everyAlarm = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);

/** The alarms that notify people: those of a rollout end with a version and notify nobody. */
const alarms: readonly Alarm[] = everyAlarm.filter(({ AlarmName }) => typeof AlarmName === 'string');

const OPERATIONS = [...allRoutes.map(({ name }) => name), 'authorizer'];
const PROVIDERS = [...STAGES.prod.providers.identityRegistry, ...STAGES.prod.providers.sms];

/** `buyer-linking-prod-create-user-concurrency` -> `<operation>-concurrency`, the title of its section in the runbook. */
const kindOf = (alarmName: string): string =>
  alarmName
    .replace(/^buyer-linking-prod-/, '')
    .replace(new RegExp(`^(?:${OPERATIONS.join('|')})-concurrency$`), '<operation>-concurrency')
    .replace(/^ceiling-.*$/, 'ceiling-<ceiling>')
    .replace(new RegExp(`-(?:${PROVIDERS.join('|')})$`), '-<provider>');

const sections = [...runbook.matchAll(/^### `(.+)`$/gm)].map(([, name]) => name);

describe('docs/operations.md', () => {
  test('has exactly one section for each kind of alarm', () => {
    expect(sections.toSorted()).toEqual(
      [...new Set(alarms.map(({ AlarmName }) => kindOf(AlarmName)))].sort(),
    );
  });
});

/** The prefix of a service in IAM, where it is not the name in the AWS CLI. */
const IAM_PREFIXES: Readonly<Record<string, string>> = {
  deploy: 'codedeploy',
  'service-quotas': 'servicequotas',
};

/** Returns the IAM action of a command of the AWS CLI: `kms disable-key` -> `kms:DisableKey`. */
const actionOf = (service: string, command: string): string => {
  const verb = command.replaceAll(/(?:^|-)[a-z]/g, (letters) => letters.replace('-', '').toUpperCase());
  return `${IAM_PREFIXES[service] ?? service}:${verb}`;
};

test('docs/admin.md names the permission of each `aws` command of the runbooks', () => {
  const admin = readFileSync(new URL('../../docs/admin.md', import.meta.url), 'utf8');
  const [, table = ''] = admin.split('## Permissions of the runbooks');
  // A row names the service once: `kms:DescribeKey`, `DisableKey`.
  const named = table.split('\n').flatMap((row) => {
    let prefix = '';
    return [...row.matchAll(/`(?:([a-z]+):)?([A-Z][A-Za-z]+)`/g)].map(([, service, verb]) => {
      prefix = service ?? prefix;
      return `${prefix}:${verb}`;
    });
  });
  const used = [...runbook.matchAll(/\baws ([a-z-]+) (wait table-exists|[a-z]+(?:-[a-z]+)+)/g)].map(
    ([, service = '', command = '']) =>
      actionOf(service, command.replace('wait table-exists', 'describe-table')),
  );
  expect(used.length).toBeGreaterThan(40);
  expect([...new Set(used)].filter((action) => !named.includes(action))).toEqual([]);
});

test('every function logs JSON, which the saved log queries read', () => {
  const formats = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).map(
    ({ Properties }) => Properties.LoggingConfig?.LogFormat,
  );
  expect(new Set(formats)).toEqual(new Set(['JSON']));
});

describe('alarms', () => {
  test('state first what people cannot do and then where to read more', () => {
    for (const { AlarmDescription } of alarms) {
      expect(AlarmDescription).toMatch(/^\w.+\. What to do: docs\/operations\.md, ".+"\.$/);
    }
    const used = alarms.find(({ AlarmName }) => AlarmName.endsWith('send-otp-concurrency'));
    expect(used?.AlarmDescription).toContain(routes['send-otp'].impact);
  });

  test('and the rule about their end can publish to the new topic, and no other service or account can', () => {
    const [policy] = Object.values(resourcesOf(api, 'AWS::SNS::TopicPolicy'));
    const allowed = policy?.Properties.PolicyDocument.Statement.filter(
      ({ Effect }: { Effect: string }) => Effect === 'Allow',
    );
    expect(allowed).toEqual([
      expect.objectContaining({
        Action: 'sns:Publish',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
      }),
      // "You can't use Condition blocks in Amazon SNS topic policies for EventBridge" (EventBridge, Resource-based policies).
      expect.objectContaining({ Action: 'sns:Publish', Principal: { Service: 'events.amazonaws.com' } }),
    ]);
  });

  test('notify a topic that notifies the e-mail address of the config', () => {
    api.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
    });
  });

  const topicArn = 'arn:aws:sns:eu-central-1:123456789012:on-call';
  const { api: other } = templatesOf('dev', { alarms: { topicArn }, budget: { usdPerMonth: 500 } });

  test('notify an existing topic of the config without changing it', () => {
    other.resourceCountIs('AWS::SNS::Topic', 0);
    const actions = Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm')).flatMap(
      ({ Properties }) => Properties.AlarmActions ?? [],
    );
    expect(actions.length).toBeGreaterThan(10);
    expect(new Set(actions)).toEqual(new Set([topicArn]));
  });

  test('and the budget notifies the same receiver at 80 % and when more than 100 % is forecast', () => {
    const subscribers = [
      [api, { Address: 'on-call@example.com', SubscriptionType: 'EMAIL' }],
      [other, { Address: topicArn, SubscriptionType: 'SNS' }],
    ] as const;
    for (const [template, subscriber] of subscribers) {
      const [budget] = Object.values(resourcesOf(template, 'AWS::Budgets::Budget'));
      const { Budget, NotificationsWithSubscribers } = budget?.Properties ?? {};
      expect(Budget.BudgetLimit).toEqual({ Amount: 500, Unit: 'USD' });
      expect(NotificationsWithSubscribers).toMatchObject([
        { Notification: { NotificationType: 'ACTUAL', Threshold: 80 }, Subscribers: [subscriber] },
        { Notification: { NotificationType: 'FORECASTED', Threshold: 100 }, Subscribers: [subscriber] },
      ]);
    }
  });

  test('and the budget counts by tags only where the account is shared, since tags count nothing until they are activated', () => {
    const filterOf = (template: Template) =>
      Object.values(resourcesOf(template, 'AWS::Budgets::Budget'))[0]?.Properties.Budget.FilterExpression;
    expect([filterOf(api), filterOf(other)]).toEqual([undefined, undefined]);
    expect(filterOf(templatesOf('prod', { ...EVERY_OPTION, sharesAccount: true }).api)).toEqual({
      And: [
        { Tags: { Key: 'service', Values: ['buyer-linking'] } },
        { Tags: { Key: 'stage', Values: ['prod'] } },
      ],
    });
  });

  test('use the metric namespace that the functions of their stage write to', () => {
    const written = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).flatMap(
      ({ Properties }) => Properties.Environment?.Variables?.METRIC_NAMESPACE ?? [],
    );
    const used = alarms
      .flatMap(({ Namespace, Metrics = [] }) => [
        Namespace,
        ...Metrics.map(({ MetricStat }) => MetricStat?.Metric.Namespace),
      ])
      .filter((namespace) => namespace !== undefined && !namespace.startsWith('AWS/'));
    // The canary writes too.
    expect(written).toHaveLength(OPERATIONS.length + 1);
    expect(new Set(written)).toEqual(new Set(['BuyerLinking/prod']));
    expect(new Set(used)).toEqual(new Set(['BuyerLinking/prod']));
  });

  test('treat missing data as breaching for the canary only', () => {
    const breaching = alarms.filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching');
    expect(breaching.map(({ AlarmName }) => AlarmName)).toEqual(['buyer-linking-prod-canary']);
  });

  test('never use FILL, which can keep an alarm in one state if a metric arrives late', () => {
    const expressions = everyAlarm.flatMap(({ Metrics = [] }: Alarm) =>
      Metrics.flatMap(({ Expression }) => Expression ?? []),
    );
    expect(expressions.length).toBeGreaterThan(OPERATIONS.length);
    expect(expressions.filter((expression) => expression.includes('FILL'))).toEqual([]);
  });

  test.each(STAGES.prod.providers.sms)(
    'watch the codes of %s: less than a fifth of at least 20 codes redeemed in 30 minutes',
    (provider) => {
      const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith(`codes-unredeemed-${provider}`));
      const [expression, ...metrics] = alarm?.Metrics ?? [];
      expect(expression?.Expression).toBe('IF(sent >= 20 AND redeemed < sent * 0.2, 1, 0)');
      expect(alarm?.Threshold).toBe(1);
      const dimensions = [{ Name: 'provider', Value: provider }];
      expect(metrics.map(({ MetricStat }) => MetricStat)).toEqual([
        {
          Metric: { Namespace: 'BuyerLinking/prod', MetricName: 'CodesSent', Dimensions: dimensions },
          Period: 1800,
          Stat: 'Sum',
        },
        {
          Metric: { Namespace: 'BuyerLinking/prod', MetricName: 'CodesRedeemed', Dimensions: dimensions },
          Period: 1800,
          Stat: 'Sum',
        },
      ]);
    },
  );

  test('on a ceiling and on redeemed codes exist only where the config sets them', () => {
    const text = JSON.stringify(other.toJSON());
    expect(text).toContain('AWS::CloudWatch::Alarm');
    expect(text).not.toMatch(/StageCeilingUsedPercent|CodesRedeemed/);
  });
});

interface Metric {
  readonly Namespace?: string;
  readonly MetricName: string;
  readonly Dimensions?: readonly { readonly Name: string }[];
}

/** Whether an event records the metric by exactly these dimensions: CloudWatch has no data of any others. */
const isRecorded = ([name, ...dimensions]: readonly string[]): boolean =>
  Object.values(EVENTS).some(
    (event) =>
      String(name) in event.metrics &&
      'dimensions' in event &&
      event.dimensions.some((set) => [...set].sort().join() === [...dimensions].sort().join()),
  );

describe('each metric of the functions', () => {
  test('in an alarm is one that an event records by these dimensions', () => {
    const used = everyAlarm
      .flatMap(({ Metrics = [], ...own }): Metric[] => [
        own,
        ...Metrics.map(({ MetricStat }: { MetricStat?: { Metric: Metric } }) => MetricStat?.Metric ?? {}),
      ])
      .filter(({ Namespace }) => Namespace === 'BuyerLinking/prod')
      .map(({ MetricName, Dimensions = [] }) => [MetricName, ...Dimensions.map(({ Name }) => Name)]);
    expect(used.length).toBeGreaterThan(40);
    expect(used.filter((metric) => !isRecorded(metric))).toEqual([]);
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

  test('shows metrics that an event records by these dimensions', () => {
    const { widgets }: { widgets: { properties: { metrics?: [unknown, string, ...unknown[]][] } }[] } =
      JSON.parse(body);
    const used = widgets
      .flatMap(({ properties: { metrics = [] } }) => metrics)
      .flatMap(([first, name, ...rest]) => {
        const { expression = '' } = (first ?? {}) as { expression?: string };
        const search = /\{BuyerLinking\/prod,?([^}]*)\} MetricName="(\w+)"/.exec(expression);
        if (search !== null) return [[String(search[2]), ...String(search[1]).split(',')]];
        if (first !== 'BuyerLinking/prod') return [];
        const dimensions = rest.filter((each, index) => index % 2 === 0 && typeof each === 'string');
        return [[name, ...dimensions.map(String)]];
      });
    expect(used.length).toBeGreaterThan(40);
    expect(used.filter((metric) => !isRecorded(metric))).toEqual([]);
  });

  test('shows every alarm that notifies people, in widgets of at most 50', () => {
    const { widgets }: { widgets: { type: string; properties: { alarms: string[] } }[] } = JSON.parse(body);
    const counts = widgets.flatMap(({ type, properties }) =>
      type === 'alarm' ? properties.alarms.length : [],
    );
    expect(Math.max(...counts)).toBeLessThanOrEqual(50);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(alarms.length);
  });
});

describe('the saved log queries', () => {
  test('read the logs of every function, name fields that events have, and are named in the runbook', () => {
    const queries = Object.values(resourcesOf(api, 'AWS::Logs::QueryDefinition')).map(
      ({ Properties }) => Properties,
    );
    const fields = new Set([
      '@timestamp',
      'event',
      ...Object.values(EVENTS).flatMap((event) => event.fields),
    ]);
    expect(queries).toHaveLength(2);
    for (const { Name, QueryString, LogGroupNames } of queries) {
      expect(runbook).toContain(`\`${Name.replace('prod', '<stage>')}\``);
      expect(LogGroupNames).toHaveLength(OPERATIONS.length + 1);
      const [, shown = ''] = /^fields (.+)/.exec(QueryString) ?? [];
      expect(shown.split(', ').filter((field) => !fields.has(field))).toEqual([]);
    }
  });
});

describe('the canary', () => {
  test('runs every five minutes, and neither EventBridge nor Lambda repeats a run', () => {
    api.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(5 minutes)',
      Targets: [Match.objectLike({ RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 } })],
    });
    api.hasResourceProperties('AWS::Lambda::EventInvokeConfig', { MaximumRetryAttempts: 0 });
  });

  test('has a secret without a value for its key, encrypted with the key of the stage if it has one', () => {
    const secretOf = (template: Template) =>
      Object.values(resourcesOf(template, 'AWS::SecretsManager::Secret')).map(({ Properties }) => Properties);
    const [secret] = secretOf(dev);
    expect(Object.keys(secret).sort()).toEqual(['Description', 'Tags']);
    expect(secretOf(api)).toMatchObject([{ KmsKeyId: { 'Fn::ImportValue': expect.anything() } }]);
  });

  test.each([
    ['sandbox', 'sandbox', dev],
    ['real', 'real providers', api],
  ])('is told %s in a stage with the %s', (providers, _, template) => {
    const [id] = Object.keys(resourcesOf(template, 'AWS::SecretsManager::Secret'));
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { PROVIDERS: providers, KEY_SECRET: { Ref: id } } },
    });
    template.hasOutput('CanarySecretArn', { Value: { Ref: id } });
  });
});
