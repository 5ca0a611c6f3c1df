import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { STAGES } from '#lib/stages.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { everyOption, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', {
  alarms: { email: 'on-call@example.com' },
  spend: { paidChecksPerDay: 5000, smsPerDay: 10_000 },
  domain: everyOption.domain,
});
const dev = templatesOf('dev').api;

const runbook = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

interface Alarm {
  /** Without the version at the end of an alarm of a rollout, which is known when it is deployed. */
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

const alarms = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }): Alarm => ({
    ...Properties,
    AlarmName: Properties.AlarmName['Fn::Join']?.[1][0].replace(/-$/, '') ?? Properties.AlarmName,
  }),
);

const OPERATIONS = [...allRoutes.map(({ name }) => name), 'authorizer'];
const PROVIDERS = [...STAGES.prod.providers.identityRegistry, ...STAGES.prod.providers.sms];

/** `buyer-linking-prod-create-user-failing` -> `<operation>-failing`, the title of its section in the runbook. */
const kindOf = (alarmName: string): string =>
  alarmName
    .replace(/^buyer-linking-prod-/, '')
    .replace(
      new RegExp(`^(?:${OPERATIONS.join('|')})-(failing|slow|concurrency|rollout-failing)$`),
      '<operation>-$1',
    )
    .replace(/^ceiling-.*$/, 'ceiling-<ceiling>')
    .replace(new RegExp(`-(?:${PROVIDERS.join('|')})$`), '-<provider>');

const sections = [...runbook.matchAll(/^### `(.+)`$/gm)].map(([, name]) => name);

describe('docs/operations.md', () => {
  test('has exactly one section for each kind of alarm', () => {
    expect(sections.toSorted()).toEqual(
      [...new Set(alarms.map(({ AlarmName }) => kindOf(AlarmName)))].sort(),
    );
  });

  test('names the records of JSON logs, which have no lines REPORT and INIT', () => {
    const formats = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.LoggingConfig?.LogFormat,
    );
    expect(new Set(formats)).toEqual(new Set(['JSON']));
    expect(runbook).toContain('`platform.report`');
    expect(runbook).not.toMatch(/`(?:REPORT|INIT)`/);
  });

  test('writes secrets only into files that git ignores', () => {
    const ignored = readFileSync(new URL('../../.gitignore', import.meta.url), 'utf8').split('\n');
    const files = [...runbook.matchAll(/file:\/\/([\w.-]+)/g)].map(([, file = '']) => file);
    expect(files.length).toBeGreaterThan(0);
    expect(ignored).toEqual(expect.arrayContaining(files));
  });

  test('links to headings that exist', () => {
    const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(links.length).toBeGreaterThan(5);
    expect(anchors).toEqual(expect.arrayContaining(links));
  });
});

describe('alarms', () => {
  test('exist for failures and for latency of every operation and of the authorizer', () => {
    const names = alarms.map(({ AlarmName }) => AlarmName);
    for (const operation of OPERATIONS) {
      expect(names).toContain(`buyer-linking-prod-${operation}-failing`);
      expect(names).toContain(`buyer-linking-prod-${operation}-slow`);
    }
  });

  test('state first what people cannot do and then where to read more', () => {
    for (const { AlarmDescription } of alarms) {
      expect(AlarmDescription).toMatch(/^\w.+\. What to do: docs\/operations\.md, ".+"\.$/);
    }
    const failing = alarms.find(({ AlarmName }) => AlarmName.endsWith('send-otp-failing'));
    expect(failing?.AlarmDescription).toContain(routes['send-otp'].impact);
  });

  test('link to their section of the runbook if the config has its URL', () => {
    const { api: linked } = templatesOf('dev', { runbookUrl: 'https://example.com/operations.md' });
    const descriptions = Object.values(resourcesOf(linked, 'AWS::CloudWatch::Alarm')).map(
      ({ Properties }) => Properties.AlarmDescription as string,
    );
    const anchors = sections.map((title = '') => title.replaceAll(/[<>]/g, ''));
    expect(descriptions.length).toBeGreaterThan(OPERATIONS.length);
    for (const description of descriptions) {
      expect(description).toMatch(/ What to do: https:\/\/example\.com\/operations\.md#[\w-]+$/);
      expect(anchors).toContain(description.split('#')[1]);
    }
  });

  test('notify the topic, and the topic notifies the e-mail address of the config', () => {
    for (const { AlarmActions } of alarms) expect(AlarmActions).toHaveLength(1);
    api.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
    });
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

  test('notify an existing topic of the config without changing it', () => {
    const topicArn = 'arn:aws:sns:eu-central-1:123456789012:on-call';
    const { api: other } = templatesOf('dev', { alarms: { topicArn } });
    other.resourceCountIs('AWS::SNS::Topic', 0);
    other.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [topicArn] });
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
    const expressions = alarms.flatMap(({ Metrics = [] }) =>
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

  test.each(['paid-checks-per-day', 'sms-per-day'])('are raised at 80 %% of the ceiling %s', (ceiling) => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName === `buyer-linking-prod-ceiling-${ceiling}`);
    expect(alarm).toMatchObject({
      MetricName: 'StageCeilingUsedPercent',
      Dimensions: [{ Name: 'ceiling', Value: ceiling }],
      Statistic: 'Maximum',
      Threshold: 80,
    });
  });

  test.each(PROVIDERS)('are raised after five responses of %s that its adapter cannot read', (provider) => {
    const alarm = alarms.find(({ AlarmName }) => AlarmName.endsWith(`unreadable-responses-${provider}`));
    expect(alarm).toMatchObject({
      MetricName: 'UnreadableResponses',
      Dimensions: [{ Name: 'provider', Value: provider }],
      Statistic: 'Sum',
      Threshold: 5,
    });
  });

  test('on a ceiling and on redeemed codes exist only where the config sets them', () => {
    const text = JSON.stringify(dev.toJSON());
    expect(text).toContain('AWS::CloudWatch::Alarm');
    expect(text).not.toMatch(/StageCeilingUsedPercent|CodesRedeemed/);
  });
});

describe('the dashboard', () => {
  test('shows alarms, traffic by operation and plan, responses by code, providers and the table', () => {
    api.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
    const [dashboard] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Dashboard'));
    const body = JSON.stringify(dashboard?.Properties.DashboardBody);
    for (const operation of allRoutes) expect(body).toContain(operation.name);
    for (const shown of [
      '"plan',
      'operation,outcome',
      'provider,provider_operation,outcome',
      'ConsumedWriteCapacityUnits',
    ]) {
      expect(body).toContain(shown.replaceAll('"', '\\"'));
    }
  });
});

describe('the canary', () => {
  test('runs every five minutes, in a stage whose config turns it on', () => {
    api.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(5 minutes)',
      Targets: Match.anyValue(),
    });
    const without = templatesOf('prod', { alarms: null, canary: false }).api;
    without.resourceCountIs('AWS::Events::Rule', 0);
    without.resourceCountIs('AWS::SecretsManager::Secret', 0);
  });

  test('has a secret without a value for its key, encrypted with the key of the stage if it has one', () => {
    const secretOf = (template: Template) =>
      Object.values(resourcesOf(template, 'AWS::SecretsManager::Secret')).map(({ Properties }) => Properties);
    const [secret] = secretOf(api);
    expect(Object.keys(secret).sort()).toEqual(['Description', 'Tags']);
    const encrypted = templatesOf('prod', { encryption: 'customer-managed-key' }).api;
    expect(secretOf(encrypted)).toMatchObject([{ KmsKeyId: { 'Fn::ImportValue': expect.anything() } }]);
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
