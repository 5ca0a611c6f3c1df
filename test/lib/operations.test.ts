import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { Match } from 'aws-cdk-lib/assertions';
import { STAGES } from '#lib/stages.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { resourcesOf, templatesOf } from './synthesised.ts';

const { api } = templatesOf('prod', { alarms: { email: 'on-call@example.com' } });

const runbook = readFileSync(new URL('../../docs/operations.md', import.meta.url), 'utf8');

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: readonly unknown[];
  readonly TreatMissingData: string;
}

const alarms = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties as Alarm,
);

const OPERATIONS = [...allRoutes.map(({ name }) => name), 'authorizer'];
const PROVIDERS = [...STAGES.prod.providers.identityRegistry, ...STAGES.prod.providers.sms];

/** `buyer-linking-prod-create-user-failing` -> `<operation>-failing`, as the runbook has it. */
const kindOf = (alarmName: string): string =>
  alarmName
    .replace(/^buyer-linking-prod-/, '')
    .replace(new RegExp(`^(?:${OPERATIONS.join('|')})-(failing|slow)$`), '<operation>-$1')
    .replace(new RegExp(`-(?:${PROVIDERS.join('|')})$`), '-<provider>');

const sections = [...runbook.matchAll(/^### `(.+)`$/gm)].map(([, name]) => name);

describe('the runbook', () => {
  test('has a section for every alarm, and none for an alarm that does not exist', () => {
    expect(new Set(sections)).toEqual(new Set(alarms.map(({ AlarmName }) => kindOf(AlarmName))));
  });

  test('refers to no heading of its own that does not exist', () => {
    const anchors = [...runbook.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    );
    const links = [...runbook.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor);
    expect(anchors).toEqual(expect.arrayContaining(links));
  });
});

describe('alarms', () => {
  test('every operation, the authorizer among them, has one for failing and one for being slow', () => {
    const names = alarms.map(({ AlarmName }) => AlarmName);
    for (const operation of OPERATIONS) {
      expect(names).toContain(`buyer-linking-prod-${operation}-failing`);
      expect(names).toContain(`buyer-linking-prod-${operation}-slow`);
    }
  });

  test('each says first what people cannot do, and where to read on', () => {
    for (const { AlarmDescription } of alarms) {
      expect(AlarmDescription).toMatch(/^\w.+\. What to do: docs\/operations\.md, ".+"\.$/);
    }
    const failing = alarms.find(({ AlarmName }) => AlarmName.endsWith('send-otp-failing'));
    expect(failing?.AlarmDescription).toContain(routes['send-otp'].impact);
  });

  test('every one reaches the topic of the config, and the topic the address', () => {
    for (const { AlarmActions } of alarms) expect(AlarmActions).toHaveLength(1);
    api.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'on-call@example.com',
    });
  });

  test('CloudWatch of this account, and no other service, may publish to the topic that is made', () => {
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
    ]);
  });

  test('a topic that exists is used as it is', () => {
    const topicArn = 'arn:aws:sns:eu-central-1:123456789012:on-call';
    const { api: other } = templatesOf('dev', { alarms: { topicArn } });
    other.resourceCountIs('AWS::SNS::Topic', 0);
    other.allResourcesProperties('AWS::CloudWatch::Alarm', { AlarmActions: [topicArn] });
  });

  test('every metric of ours that one watches is of the namespace that the functions of its stage write to', () => {
    const written = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).flatMap(
      ({ Properties }) => Properties.Environment?.Variables?.METRIC_NAMESPACE ?? [],
    );
    const watched = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm'))
      .map(({ Properties }) => Properties.Namespace)
      .filter((namespace) => !namespace.startsWith('AWS/'));
    expect(written).toHaveLength(OPERATIONS.length);
    expect(new Set(written)).toEqual(new Set(['BuyerLinking/prod']));
    expect(new Set(watched)).toEqual(new Set(['BuyerLinking/prod']));
  });

  test('only the canary takes silence for a failure', () => {
    const silent = alarms.filter(({ TreatMissingData }) => TreatMissingData !== 'notBreaching');
    expect(silent.map(({ AlarmName }) => AlarmName)).toEqual(['buyer-linking-prod-canary']);
  });

  test('none depends on more than one metric, which emulators and composite views cannot evaluate', () => {
    for (const { Properties } of Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm'))) {
      expect(Properties.Metrics).toBeUndefined();
      expect(Properties.MetricName).toEqual(expect.any(String));
    }
  });
});

describe('the dashboard', () => {
  test('shows alarms, traffic by operation and plan, refusals, providers and the table', () => {
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
  test('asks every five minutes, and is there only where the config says so', () => {
    api.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: 'rate(5 minutes)',
      Targets: Match.anyValue(),
    });
    templatesOf('dev').api.resourceCountIs('AWS::Events::Rule', 0);
  });
});
