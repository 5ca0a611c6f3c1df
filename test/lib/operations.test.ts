import { readdirSync, readFileSync } from 'node:fs';
import { Match, type Template } from 'aws-cdk-lib/assertions';
import { OUTPUTS } from '#lib/outputs.ts';
import { STAGES } from '#lib/stages.ts';
import { probe } from '#probe/canary.ts';
import { accessRows } from '#shared/access.ts';
import { policyFor } from '#shared/api-keys/caller.ts';
import { IDENTITY_PROVIDERS } from '#shared/identity-registry/configured.ts';
import { EVENTS } from '#shared/log.ts';
import { allFunctions } from '#shared/routes.ts';
import { TIMEOUTS } from '#shared/secrets/secret-source.ts';
import { SMS_PROVIDERS } from '#shared/sms/configured.ts';
import { EVERY_OPTION, OTHER_OPTIONS, resourcesOf, templatesOf, WATCHED_DEV } from './synthesized.ts';

const { api } = templatesOf('prod', EVERY_OPTION);
const dev = templatesOf('dev').api;
const sandbox = templatesOf('dev', WATCHED_DEV).api;

const pageOf = (name: string) =>
  readFileSync(new URL(`../../docs/operators/${name}.md`, import.meta.url), 'utf8');

const everyPage = readdirSync(new URL('../../docs/operators/', import.meta.url))
  .map((file) => pageOf(file.replace('.md', '')))
  .join('\n');

const namedBy = (pattern: RegExp, text = everyPage): string[] => [
  ...new Set([...text.matchAll(pattern)].map(([, name]) => String(name))),
];

const alarmPage = pageOf('alarms');
const runbooks = `${pageOf('operations')}\n${alarmPage}`;
const adminPage = pageOf('admin');

interface Alarm {
  readonly AlarmName: string;
  readonly AlarmDescription: string;
  readonly AlarmActions?: readonly unknown[];
  readonly OKActions?: readonly unknown[];
}

const alarms: readonly Alarm[] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).map(
  ({ Properties }) => Properties,
);

const OPERATIONS = allFunctions.map(({ name }) => name);

describe('docs/operators/alarms.md', () => {
  test('has a row for each kind of alarm, thirteen in all, with its first command', () => {
    const [table = ''] = alarmPage.split('\n## ');
    const rows = [...table.matchAll(/^\| (`.+?`) \| .+? \| (.+) \|$/gm)];
    const named = rows.flatMap(([, names = '']) => names.replaceAll('`', '').split(', '));
    const names = alarms.map(({ AlarmName }) => AlarmName.replace('buyer-linking-prod-', ''));
    expect(named.toSorted()).toEqual(names.toSorted());
    expect(rows).toHaveLength(13);
    expect(rows.filter(([, , command]) => !/`/.test(String(command)))).toEqual([]);
  });
});

describe('docs/operators/operations.md and alarms.md', () => {
  test('name no command of the AWS CLI whose action is missing in docs/operators/admin.md, "Permissions of the runbooks"', () => {
    const [, permissions = ''] = adminPage.split('## Permissions of the runbooks\n');
    let service = '';
    const granted = [...permissions.matchAll(/`(?:([a-z0-9]+):)?([A-Z]\w+)`/g)].map(([, named, action]) => {
      service = named ?? service;
      return `${service}:${action}`.toLowerCase();
    });
    const needed = [...runbooks.matchAll(/\baws ([a-z0-9-]+) ([a-z-]+)/g)].map(
      ([, name = '', command = '']) =>
        command === 'wait'
          ? `${name}:describetable`
          : `${name.replaceAll('-', '')}:${command.replaceAll('-', '')}`,
    );
    expect(needed.length).toBeGreaterThan(40);
    expect(needed.filter((action) => !granted.includes(action))).toEqual([]);
  });
});

describe('the pages of docs/operators', () => {
  const withPublicCodes = templatesOf('prod', OTHER_OPTIONS);

  test('name only outputs of the stack, each of which they or the admin CLI read', () => {
    const named = [...namedBy(/outputs? `(\w+)`/g), ...namedBy(/<([A-Z]\w+)>/g)];
    const ofBackup = ['DestinationRecoveryPointArn'];
    const known: readonly string[] = [...Object.values(OUTPUTS), ...ofBackup];
    expect(named.length).toBeGreaterThan(8);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
    const cli = readFileSync(new URL('../../admin/cli/connect-aws.ts', import.meta.url), 'utf8');
    const unread = Object.entries(OUTPUTS).filter(
      ([key, name]) => !named.includes(name) && !cli.includes(`OUTPUTS.${key}`),
    );
    expect(unread).toEqual([]);
  });

  test('look for resources by logical ids that the stacks have', () => {
    const ids = [api, templatesOf('prod', EVERY_OPTION).data].flatMap((template) =>
      Object.keys(template.toJSON().Resources),
    );
    const named = namedBy(/LogicalResourceId, '(\w+)'/g);
    expect(named.length).toBeGreaterThan(2);
    expect(named.filter((name) => !ids.some((id) => id.startsWith(name)))).toEqual([]);
    const aliases = Object.values(resourcesOf(templatesOf('prod', EVERY_OPTION).data, 'AWS::KMS::Alias')).map(
      ({ Properties }) => Properties.AliasName.replace('prod', '<stage>'),
    );
    expect(namedBy(/(alias\/\S+)/g)).toEqual(aliases);
  });

  test('name only parts of a setting that a stage has', () => {
    const settings = [STAGES.prod, EVERY_OPTION, WATCHED_DEV].flatMap((stage) => Object.entries(stage));
    const parts = settings.flatMap(([name, value]) =>
      value === null || typeof value !== 'object' ? [] : Object.keys(value).map((part) => `${name}.${part}`),
    );
    const names = [...new Set(settings.map(([name]) => name))];
    const named = namedBy(new RegExp(`\`((?:${names.join('|')})\\.\\w+)`, 'g'));
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !parts.includes(name))).toEqual([]);
  });

  test('name only rules and metrics of the firewall that it has', () => {
    const [firewall] = Object.values(resourcesOf(withPublicCodes.api, 'AWS::WAFv2::WebACL'));
    const rules: { Name: string; VisibilityConfig: { MetricName: string } }[] = firewall?.Properties.Rules;
    const known = rules.flatMap(({ Name, VisibilityConfig }) => [Name, VisibilityConfig.MetricName]);
    const named = namedBy(/\b([a-z-]+-per-address|[A-Z]\w+PerAddress)\b/g);
    expect(named.length).toBeGreaterThan(6);
    expect(named.filter((name) => !known.includes(name))).toEqual([]);
  });
});

describe('docs/operators/deploy.md', () => {
  const page = pageOf('deploy');
  const [, section = ''] = /```json\n([\s\S]+?)```/.exec(page) ?? [];

  const withCredentials = [...IDENTITY_PROVIDERS, ...SMS_PROVIDERS].filter(
    ({ credentials }) => credentials !== undefined,
  );

  test.each(withCredentials.map((provider) => [provider.name, provider] as const))(
    'shows the credentials of %s in the form that its adapter accepts',
    (name, provider) => {
      expect(() => provider.open(JSON.parse(section)[name])).not.toThrow();
    },
  );

  test('has for a topic of your own the statements of the topic that the stack makes', () => {
    const [, text = ''] = /<!-- Topic policy -->\n```json\n([\s\S]+?)```/.exec(page) ?? [];
    const [policy] = Object.values(resourcesOf(api, 'AWS::SNS::TopicPolicy'));
    const [topic] = Object.keys(resourcesOf(api, 'AWS::SNS::Topic'));
    const made = JSON.stringify(policy?.Properties.PolicyDocument.Statement)
      .replaceAll(`{"Ref":"${topic}"}`, '"<topic ARN>"')
      .replaceAll('{"Ref":"AWS::AccountId"}', '"<account>"');
    expect(JSON.parse(made)).toEqual(
      expect.arrayContaining(JSON.parse(text).map((statement: object) => expect.objectContaining(statement))),
    );
  });
});

test('every function logs JSON, which the saved log queries read', () => {
  const formats = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).map(
    ({ Properties }) => Properties.LoggingConfig?.LogFormat,
  );
  // Without one: the function of CDK that runs the trigger.
  expect(formats.filter((format) => format !== 'JSON')).toEqual([undefined]);
});

describe('alarms', () => {
  test('state first what people cannot do and then where to read more', () => {
    for (const { AlarmDescription } of alarms) {
      expect(AlarmDescription).toMatch(/^\w.+\. What to do: docs\/operators\/alarms\.md\.$/);
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

  const { api: other } = templatesOf('dev', WATCHED_DEV);

  test('notify an existing topic of the config without changing it', () => {
    other.resourceCountIs('AWS::SNS::Topic', 0);
    const actions = Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm')).flatMap(
      ({ Properties }) => Properties.AlarmActions ?? [],
    );
    expect(actions.length).toBeGreaterThan(5);
    expect(new Set(actions)).toEqual(new Set([WATCHED_DEV.alarms.topicArn]));
  });

  test('on providers, ceilings and a certificate exist only where the stage has them', () => {
    const names = Object.values(resourcesOf(other, 'AWS::CloudWatch::Alarm')).map(({ Properties }) =>
      Properties.AlarmName.replace('buyer-linking-dev-', ''),
    );
    expect(names.sort()).toEqual([
      'canary',
      'codes-rejected',
      'flood',
      'operations-crashing-1',
      'operations-crashing-2',
      'operations-crashing-3',
      'operations-crashing-4',
      'operations-failing',
      'server-errors',
      'service-unavailable',
      'slow-reads',
    ]);
  });

  test('on a provider that another one replaces exist only for a port with two', () => {
    const { api: single } = templatesOf('prod', OTHER_OPTIONS);
    const names = Object.values(resourcesOf(single, 'AWS::CloudWatch::Alarm')).map(
      ({ Properties }) => Properties.AlarmName,
    );
    expect(names.filter((name) => /-providers-failing-/.test(name))).toEqual([
      'buyer-linking-prod-providers-failing-identity-registry',
    ]);
  });

  test('notify the topic when they are raised, and have no OK action, which a new alarm would run', () => {
    const [topic, ...otherTopics] = Object.keys(resourcesOf(api, 'AWS::SNS::Topic'));
    expect([topic, otherTopics]).toEqual([expect.any(String), []]);
    for (const { AlarmActions, OKActions } of alarms) {
      expect({ AlarmActions, OKActions }).toEqual({ AlarmActions: [{ Ref: topic }], OKActions: undefined });
    }
  });

  test('exist only with a receiver, and so does the dashboard', () => {
    dev.resourceCountIs('AWS::CloudWatch::Alarm', 0);
    dev.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
    api.resourceCountIs('AWS::CloudWatch::Dashboard', 1);
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

  test('read the metric namespace that every function and the canary write to', () => {
    const written = Object.values(resourcesOf(api, 'AWS::Lambda::Function')).flatMap(
      ({ Properties }) => Properties.Environment?.Variables?.METRIC_NAMESPACE ?? [],
    );
    expect(written).toHaveLength(OPERATIONS.length + 1);
    expect(new Set(written)).toEqual(new Set(['BuyerLinking/prod']));
  });
});

describe('the saved log queries', () => {
  const queries = Object.values(resourcesOf(api, 'AWS::Logs::QueryDefinition')).map(
    ({ Properties: { Name, QueryString, LogGroupNames } }) => ({
      name: Name.replace('buyer-linking-prod-api/', ''),
      text: QueryString as string,
      logGroups: LogGroupNames.map(({ Ref }: { Ref: string }) => Ref) as string[],
    }),
  );
  const [stage] = Object.values(resourcesOf(api, 'AWS::ApiGateway::Stage'));
  const { DestinationArn, Format } = stage?.Properties.AccessLogSetting ?? {};

  /** What a line of each log can have: of our functions, of the access log, and of Lambda itself (Lambda, JSON log format). */
  const fieldsOf = {
    functions: ['event', ...Object.values(EVENTS).flatMap((event) => event.fields)],
    access: Object.keys(JSON.parse(Format)),
    lambda: ['requestId', 'type', 'record.status', 'record.requestId'],
  };

  /** The words of a query that are neither text, numbers, its own names, nor words of the query language. */
  const fieldsIn = (text: string): string[] => {
    const own = [...text.matchAll(/ as (\w+)/g)].map(([, name]) => name);
    const words = text.replaceAll(/"[^"]*"/g, '').match(/@?[a-z_][\w.]*/gi) ?? [];
    const language =
      /^(?:fields|filter|stats|sort|limit|display|by|as|in|and|or|asc|desc|count|earliest|latest|@timestamp|@message)$/;
    return words.filter((word) => !language.test(word) && !own.includes(word));
  };

  test.each(queries)('$name reads logs whose lines can have its fields', ({ text, logGroups }) => {
    // All but the two that run in deploys only.
    const functions = Object.keys(resourcesOf(api, 'AWS::Lambda::Function')).length - 2;
    const readsAccess = logGroups.some((id) => JSON.stringify(DestinationArn).includes(id));
    const readsFunctions = logGroups.length > 1;
    expect(logGroups).toHaveLength((readsAccess ? 1 : 0) + (readsFunctions ? functions : 0));
    const known = [
      ...(readsAccess ? fieldsOf.access : []),
      ...(readsFunctions ? [...fieldsOf.functions, ...(readsAccess ? fieldsOf.lambda : [])] : []),
    ];
    expect(fieldsIn(text).filter((field) => !known.includes(field))).toEqual([]);
  });

  test('compare the status of the access log, which is a text, by operators and not by a list of numbers', () => {
    expect(JSON.parse(Format).status).toBe('$context.status');
    expect(queries.filter(({ text }) => /status in/.test(text))).toEqual([]);
    expect(queries.filter(({ text }) => /status (?:=|>=) \d/.test(text)).map(({ name }) => name)).toEqual([
      '5xx by cause',
      '5xx by seller',
      'refused by address',
    ]);
  });

  test('of one request find the lines of API Gateway, of the function and of Lambda', () => {
    const { text = '', logGroups } = queries.find(({ name }) => name === 'one request') ?? {};
    expect(logGroups).toHaveLength(OPERATIONS.length + 2);
    const [, filter = ''] = /filter (.+)/.exec(text) ?? [];
    expect(fieldsIn(filter)).toEqual(['request_id', 'requestId', 'record.requestId']);
    expect(fieldsOf.access).toEqual(
      expect.arrayContaining(['request_id', 'seller_id', 'function_request_id']),
    );
  });

  test('find the seller in the access log under the name that the authorizer gives it', () => {
    const context = policyFor(
      {
        seller_id: 'sel_1',
        key_id: 'key_1',
        scopes: ['users:read'],
        plan: 'free',
        usage_id: 'u',
        status: 'active',
        seller_status: 'active',
        number: 1,
      },
      'arn:aws:execute-api:eu-central-1:000000000000:api/test/GET/v1/users',
      accessRows,
    ).context;
    const [, property = ''] = /^\$context\.authorizer\.(\w+)$/.exec(JSON.parse(Format).seller_id) ?? [];
    expect(context?.[property]).toBe('sel_1');
  });

  test('are all that the runbooks name, and the runbooks hold no other', () => {
    const named = new Set([...runbooks.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text));
    expect(queries.filter(({ name }) => !named.has(name))).toEqual([]);
    const after = [...runbooks.matchAll(/[Qq]uery `([^`]+)`/g)].map(([, name]) => String(name));
    expect(after.filter((name) => !queries.some((query) => query.name === name))).toEqual([]);
    expect(runbooks).not.toMatch(/\bstats count\b|`filter |^ *filter /m);
  });
});

describe('the canary', () => {
  test('gives its calls 15 seconds, so that Lambda does not end a run before its log says what failed, though the read of its key took all attempts', async () => {
    const { timeout } = AbortSignal;
    const times: number[] = [];
    AbortSignal.timeout = (ms) => {
      times.push(ms);
      return timeout.call(AbortSignal, ms);
    };
    // Nothing listens there.
    const run = probe({ addresses: ['http://127.0.0.1:9'], apiKey: 'blk_test_0', testPerson: undefined });
    await expect(run).rejects.toThrow('no response');
    AbortSignal.timeout = timeout;
    const [id] = Object.keys(resourcesOf(api, 'AWS::Lambda::Function')).filter((each) =>
      each.startsWith('canary'),
    );
    const { Timeout } = resourcesOf(api, 'AWS::Lambda::Function')[String(id)]?.Properties ?? {};
    const readMs = 3 * (TIMEOUTS.connectionTimeout + TIMEOUTS.requestTimeout);
    expect(Math.min(...times)).toBe(15_000);
    expect(Math.min(...times) + readMs).toBeLessThan(Timeout * 1000);
  });

  test('is not in a stage without alarms, where nobody would hear of its failures', () => {
    expect(Object.keys(resourcesOf(dev, 'AWS::SecretsManager::Secret'))).toEqual([]);
    expect(Object.keys(resourcesOf(dev, 'AWS::Events::Rule'))).toEqual([]);
    expect(Object.keys(dev.findOutputs('*'))).not.toContain('CanarySecretArn');
  });

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
    const [secret] = secretOf(sandbox);
    expect(Object.keys(secret).sort()).toEqual(['Description', 'Tags']);
    expect(secretOf(api)).toMatchObject([{ KmsKeyId: { 'Fn::ImportValue': expect.anything() } }]);
  });

  test.each([
    ['sandbox', 'sandbox', sandbox],
    ['real', 'real providers', api],
  ])('is told %s in a stage with the %s', (providers, _, template) => {
    const [id] = Object.keys(resourcesOf(template, 'AWS::SecretsManager::Secret'));
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { PROVIDERS: providers, KEY_SECRET: { Ref: id } } },
    });
    template.hasOutput('CanarySecretArn', { Value: { Ref: id } });
  });
});
