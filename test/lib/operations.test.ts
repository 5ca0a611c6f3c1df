import { readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { EVENTS } from '#shared/log.ts';
import { allRoutes } from '#shared/routes.ts';
import { EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api } = templatesOf('prod', EVERY_OPTION);
const dev = templatesOf('dev').api;

const runbook = readFileSync(new URL('../../docs/operators/operations.md', import.meta.url), 'utf8');

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
}

const alarms: readonly Alarm[] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);

const OPERATIONS = [...allRoutes.map(({ name }) => name), 'authorizer'];

const [, alarmTable = ''] = runbook.split('## Alarms\n');

describe('docs/operators/operations.md', () => {
  test('has exactly one row for each alarm', () => {
    const [rowsOfAlarms = ''] = alarmTable.split('\n### ');
    const rows = [...rowsOfAlarms.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, name]) => name);
    const names = alarms.map(({ AlarmName }) => AlarmName.replace('buyer-linking-prod-', ''));
    expect(rows.toSorted()).toEqual(names.toSorted());
  });
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
      expect(AlarmDescription).toMatch(/^\w.+\. What to do: docs\/operators\/operations\.md, "Alarms"\.$/);
    }
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
  const { api: other } = templatesOf('dev', {
    alarms: { topicArn },
  });

  test('notify an existing topic of the config without changing it', () => {
    other.resourceCountIs('AWS::SNS::Topic', 0);
    const actions = Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm')).flatMap(
      ({ Properties }) => Properties.AlarmActions ?? [],
    );
    expect(actions.length).toBeGreaterThan(10);
    expect(new Set(actions)).toEqual(new Set([topicArn]));
  });

  test('on a ceiling, on redeemed codes and on a firewall exist only where the config sets them', () => {
    const names = Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm')).map(
      ({ Properties }) => Properties.AlarmName,
    );
    expect(names).toHaveLength(11);
    expect(names.filter((name) => /ceiling|unredeemed|firewall|certificate/.test(name))).toEqual([]);
  });

  test('read the metric namespace that every function and the canary write to', () => {
    const written = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).flatMap(
      ({ Properties }) => Properties.Environment?.Variables?.METRIC_NAMESPACE ?? [],
    );
    expect(written).toHaveLength(OPERATIONS.length + 1);
    expect(new Set(written)).toEqual(new Set(['BuyerLinking/prod']));
  });
});

describe('the saved log queries', () => {
  test('read the logs of every function, and name fields that events have', () => {
    const queries = Object.values(resourcesOf(api, 'AWS::Logs::QueryDefinition')).map(
      ({ Properties }) => Properties,
    );
    const fields = new Set([
      '@timestamp',
      'event',
      ...Object.values(EVENTS).flatMap((event) => event.fields),
    ]);
    expect(queries).toHaveLength(2);
    for (const { QueryString, LogGroupNames } of queries) {
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
