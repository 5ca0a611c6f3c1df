/** The numbers of the infrastructure of prod that nothing else needs to know, each with the sentence of the docs that promises it. */
import { readFileSync } from 'node:fs';
import type { Template } from 'aws-cdk-lib/assertions';
import { SITE_THROTTLE } from '#lib/rest-api.ts';
import { STAGES } from '#lib/stages.ts';
import openApiDocument from '../../openapi.json' with { type: 'json' };
import { COMPLETE, EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

const { api, data } = templatesOf('prod', EVERY_OPTION);

/** The properties of the resources of a type, those with an id that begins with a text, without the doubles. */
const distinct = <Value>(
  template: Template,
  type: string,
  of: (properties: never) => Value,
  id = '',
): Value[] => {
  const values = Object.entries(resourcesOf(template, type))
    .filter(([logicalId]) => logicalId.startsWith(id))
    .map(([, { Properties }]) => JSON.stringify(of(Properties as never)));
  return [...new Set(values)].sort().map((value) => JSON.parse(value));
};

interface Visibility {
  readonly CloudWatchMetricsEnabled: boolean;
}

interface Lambda {
  readonly MemorySize: number;
  readonly Timeout: number;
}

const sizeOf = (name: string) =>
  distinct(
    api,
    'AWS::Lambda::Function',
    ({ MemorySize, Timeout }: Lambda) => [MemorySize, Timeout],
    `${name}Function`,
  );

const throttle = ({ requestsPerSecond, burst }: { requestsPerSecond: number; burst: number }) => [
  requestsPerSecond,
  burst,
];

/** The requests of a day that the throttles of the methods without a key let through, in millions. */
const openRequestsADay = (): number => {
  const [settings = []] = distinct(
    api,
    'AWS::ApiGateway::Stage',
    ({ MethodSettings }: { MethodSettings: { HttpMethod: string; ThrottlingRateLimit: number }[] }) =>
      MethodSettings,
  );
  const perSecond = settings
    .filter(({ HttpMethod }) => HttpMethod !== '*')
    .reduce((sum, { ThrottlingRateLimit }) => sum + ThrottlingRateLimit, 0);
  return Math.round((perSecond * 24 * 60 * 60) / 1e6);
};

const { firewall, keyedRoutes, openRoutes, reservedConcurrency } = STAGES.prod;

/** The seconds of a new link or a check, and of a code: the billed milliseconds of docs/operators/performance.md. */
const [LINK_SECONDS, CODE_SECONDS] = [1.536, 0.731];

/** How many a second the reserved concurrency of a function serves: ten at most for each unit. */
const perSecond = (name: keyof typeof reservedConcurrency.functions, seconds: number): number =>
  Math.round(
    Math.min(reservedConcurrency.functions[name] / seconds, reservedConcurrency.functions[name] * 10),
  );

const [alarmOf, limitOf] = [
  (name: string) =>
    Object.values(resourcesOf(api, 'AWS::CloudWatch::Alarm')).find(({ Properties }) =>
      Properties.AlarmName.endsWith(`-${name}`),
    )?.Properties,
  (name: string): number =>
    Object.values(resourcesOf(api, 'AWS::WAFv2::WebACL'))[0]?.Properties.Rules.find(
      ({ Name }: { Name: string }) => Name === name,
    ).Statement.RateBasedStatement.Limit,
];

/** What has the number, the number, and the page and the text that promise it. */
const NUMBERS: readonly (readonly [
  what: string,
  actual: unknown,
  expected: unknown,
  page: string,
  text: string,
])[] = [
  [
    'the retention of each log',
    distinct(
      api,
      'AWS::Logs::LogGroup',
      ({ RetentionInDays }: { RetentionInDays: number }) => RetentionInDays,
    ),
    [365],
    'privacy',
    'are kept for `logRetentionDays`, a year in prod',
  ],
  [
    'the one-time codes of an address',
    firewall.codesPerAddress,
    1000,
    'security',
    '1,000 requests per address and operation in 5 minutes',
  ],
  [
    'the requests of an address',
    firewall.requestsPerAddress,
    3600,
    'security',
    'the firewall of prod holds an address to 3,600 a minute',
  ],
  [
    'the throttle of a keyed operation',
    throttle(keyedRoutes),
    [300, 300],
    'scaling',
    '300 a second in prod, and 300 at once',
  ],
  [
    'the throttle of an open operation',
    throttle(openRoutes),
    [50, 100],
    'scaling',
    '50 a second in prod, and 100 at once',
  ],
  ['a day of open operations in millions', openRequestsADay(), 17, 'deploy', '90 for 17 million requests'],
  [
    'memory and timeout of the authorizer',
    sizeOf('authorizer'),
    [[1024, 5]],
    'performance',
    '0.0133 × billed ms (1 GB, arm64)',
  ],
  [
    'memory and timeout of the canary',
    sizeOf('canary'),
    [[256, 28]],
    'deploy',
    'The canary costs about 1 more',
  ],
  [
    'the reserved concurrency',
    reservedConcurrency,
    {
      accountQuota: 1000,
      functions: {
        authorizer: 200,
        'create-user': 200,
        'check-user': 60,
        'update-user': 80,
        'delete-user': 80,
        'send-otp': 100,
        'verify-otp': 60,
      },
    },
    'scaling',
    '| all others, reads | 219 together |',
  ],
  [
    'the concurrency that is reserved in all',
    Object.values(reservedConcurrency.functions).reduce((sum, each) => sum + each, 0),
    780,
    'deploy',
    '`reservedConcurrency` takes 780 and must leave 200',
  ],
  [
    'the most new links',
    perSecond('create-user', LINK_SECONDS),
    130,
    'scaling',
    '| `create-user` | 200 | 130 new links |',
  ],
  [
    'the most checks',
    perSecond('check-user', LINK_SECONDS),
    39,
    'scaling',
    '| `check-user` | 60 | 39 checks |',
  ],
  ['the most codes', perSecond('send-otp', CODE_SECONDS), 137, 'scaling', '| `send-otp` | 100 | 137 codes |'],
  [
    'the most verifications',
    perSecond('verify-otp', 0),
    600,
    'scaling',
    '| `verify-otp` | 60 | 600 verifications |',
  ],
  [
    'the most decisions on keys',
    perSecond('authorizer', 0),
    2000,
    'scaling',
    '| authorizer | 200 | 2,000 keys that are not in its cache',
  ],
  [
    'the addresses that can use up the authorizer',
    Math.ceil((60 * perSecond('authorizer', 0)) / firewall.requestsPerAddress),
    34,
    'security',
    'so 34 addresses can still do it',
  ],
  [
    'the files of the documentation site that an address may load',
    limitOf('docs-per-address'),
    150,
    'security',
    '10 requests a second for each path, 150 a minute from one address',
  ],
  [
    'the responses of the documentation site that are a flood',
    Number(/\(pages \+ missing\) \/ (\d+)/.exec(JSON.stringify(alarmOf('flood')?.Metrics))?.[1]),
    1500,
    'alarms',
    'the documentation site sends 1,500 responses in five minutes',
  ],
  [
    'the milliseconds of a slow list of users',
    alarmOf('slow-reads')?.Threshold,
    2000,
    'alarms',
    'lists of users take two seconds',
  ],
  [
    'the network of staticEgress',
    [
      distinct(api, 'AWS::EC2::VPC', ({ CidrBlock }: { CidrBlock: string }) => CidrBlock),
      distinct(api, 'AWS::EC2::Subnet', ({ CidrBlock }: { CidrBlock: string }) => CidrBlock),
    ],
    [['10.0.0.0/16'], ['10.0.0.0/28', '10.0.0.16/28', '10.0.4.0/22', '10.0.8.0/22']],
    'deploy',
    '| `staticEgress`, if a provider asks for an address |',
  ],
  [
    'the endpoint through which the table is read without a NAT gateway, from each subnet',
    distinct(
      api,
      'AWS::EC2::VPCEndpoint',
      ({
        VpcEndpointType,
        ServiceName,
        RouteTableIds,
      }: {
        VpcEndpointType: string;
        ServiceName: unknown;
        RouteTableIds: unknown[];
      }) => [VpcEndpointType, JSON.stringify(ServiceName).includes('.dynamodb'), RouteTableIds.length],
    ),
    [['Gateway', true, 4]],
    'deploy',
    '| `staticEgress`, if a provider asks for an address | – | (37) |',
  ],
  [
    'what the functions of staticEgress may call',
    distinct(
      api,
      'AWS::EC2::SecurityGroup',
      ({
        SecurityGroupEgress,
      }: {
        SecurityGroupEgress: { CidrIp: string; FromPort: number; ToPort: number }[];
      }) => SecurityGroupEgress.map(({ CidrIp, FromPort, ToPort }) => `${CidrIp} ${FromPort} ${ToPort}`),
    ),
    [['0.0.0.0/0 443 443']],
    'deploy',
    '| `staticEgress`, if a provider asks for an address |',
  ],
  [
    'the compression of responses, from ten kilobytes on',
    distinct(
      api,
      'AWS::ApiGateway::RestApi',
      ({ MinimumCompressionSize }: { MinimumCompressionSize: number }) => MinimumCompressionSize,
    ),
    [10 * 1024],
    '../contributors/adr/0006-the-documentation-site',
    '22 KB in place of 130 for a first visit',
  ],
  [
    'the backups of backupCopy: at a quiet hour, 7 days here, and as long as the stage says there',
    distinct(
      data,
      'AWS::Backup::BackupPlan',
      ({
        BackupPlan,
      }: {
        BackupPlan: {
          BackupPlanRule: {
            ScheduleExpression: string;
            Lifecycle: object;
            CopyActions: { Lifecycle: object }[];
          }[];
        };
      }) =>
        BackupPlan.BackupPlanRule.map(({ ScheduleExpression, Lifecycle, CopyActions }) => [
          ScheduleExpression,
          Lifecycle,
          ...CopyActions.map((copy) => copy.Lifecycle),
        ]),
    ),
    [[['cron(30 23 * * ? *)', { DeleteAfterDays: 7 }, { DeleteAfterDays: 35 }]]],
    'privacy',
    '7 days in the vault of the stage, `keepDays` in the other one',
  ],
  [
    'the policies of the role of backups: the one for backups, and none for restores',
    distinct(
      data,
      'AWS::IAM::Role',
      ({ ManagedPolicyArns }: { ManagedPolicyArns: unknown[] }) =>
        ManagedPolicyArns.map((arn) => JSON.stringify(arn).replace(/.*policy\/([\w/-]+).*/, '$1')),
      'BackupCopyRole',
    ),
    [['service-role/AWSBackupServiceRolePolicyForBackup']],
    'operations',
    'role `AWSBackupDefaultServiceRole` in both',
  ],
  [
    'the days in which a deletion of a signing key can be canceled',
    distinct(
      data,
      'AWS::KMS::Key',
      ({ PendingWindowInDays }: { PendingWindowInDays: number }) => PendingWindowInDays,
      'SigningKey',
    ),
    [7],
    'operations',
    'within 7 days `aws kms cancel-key-deletion',
  ],
  [
    'the days for which the table can be restored',
    distinct(
      data,
      'AWS::DynamoDB::GlobalTable',
      ({ Replicas }: { Replicas: { PointInTimeRecoverySpecification: object }[] }) =>
        Replicas.map((replica) => replica.PointInTimeRecoverySpecification),
    ),
    [[{ PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 }]],
    'operations',
    'Restore the last second before the damage, within 35 days',
  ],
  [
    'the metrics of the firewall and of each of its rules',
    distinct(
      api,
      'AWS::WAFv2::WebACL',
      ({
        VisibilityConfig,
        Rules,
      }: {
        VisibilityConfig: Visibility;
        Rules: { VisibilityConfig: Visibility }[];
      }) => [
        VisibilityConfig.CloudWatchMetricsEnabled,
        ...new Set(Rules.map((rule) => rule.VisibilityConfig.CloudWatchMetricsEnabled)),
      ],
    ),
    [[true, true]],
    'alarms',
    'the metric `BlockedRequests` of AWS/WAFV2 by `Rule`',
  ],
  [
    'the role of the account with which API Gateway writes logs',
    Object.keys(resourcesOf(api, 'AWS::ApiGateway::Account')).length,
    1,
    'deploy',
    "the account's role for the logs of API Gateway",
  ],
  [
    'the rotation of the keys that encrypt, by AWS',
    distinct(
      data,
      'AWS::KMS::Key',
      ({ KeySpec, EnableKeyRotation }: { KeySpec?: string; EnableKeyRotation?: boolean }) => [
        KeySpec ?? 'symmetric',
        EnableKeyRotation ?? false,
      ],
    ),
    [
      ['ECC_NIST_P256', false],
      ['symmetric', true],
    ],
    'deploy',
    'in a vault of its own, with a key (1 USD a month)',
  ],
  [
    'the subnets that give an instance a public address',
    distinct(
      api,
      'AWS::EC2::Subnet',
      ({ MapPublicIpOnLaunch }: { MapPublicIpOnLaunch: boolean }) => MapPublicIpOnLaunch,
    ),
    [false],
    'deploy',
    'the output `EgressAddress` to allow',
  ],
  [
    'the condition on which the topic of the alarms refuses a call',
    distinct(
      api,
      'AWS::SNS::TopicPolicy',
      ({ PolicyDocument }: { PolicyDocument: { Statement: { Effect: string; Condition: object }[] } }) =>
        PolicyDocument.Statement.filter(({ Effect }) => Effect === 'Deny').map(({ Condition }) => Condition),
    ),
    [[{ Bool: { 'aws:SecureTransport': 'false' } }]],
    'security',
    'TLS 1.3, or 1.2 with forward secrecy',
  ],
  [
    'the thresholds of the alarms',
    STAGES.prod.alarmThresholds,
    {
      unexplainedErrors: 5,
      internalErrors: 3,
      callsWithoutAnswer: 5,
      portCalls: 5,
      codesSent: 10,
      codesRejected: 100,
      requestsBlocked: 1000,
    },
    'deploy',
    '`alarmThresholds` fits up to some 1,000 requests a minute',
  ],
];

test.each(NUMBERS)('in prod %s is what the docs promise', (_, actual, expected, page, text) => {
  expect(actual).toEqual(expected);
  expect(readFileSync(new URL(`../../docs/operators/${page}.md`, import.meta.url), 'utf8')).toContain(text);
});

/** What a stage costs in a month without requests, at the list prices of us-east-1. */
const idleCosts = ({ api: ofApi, data: ofData }: ReturnType<typeof templatesOf>, providerSecrets: number) => {
  const all = (type: string) =>
    [ofApi, ofData].flatMap((template) => Object.values(resourcesOf(template, type)));
  const metrics = all('AWS::CloudWatch::Alarm').flatMap(
    ({ Properties }) =>
      Properties.Metrics?.filter(({ MetricStat }: { MetricStat?: object }) => MetricStat) ?? [1],
  ).length;
  const firewalls = all('AWS::WAFv2::WebACL').map(({ Properties }) => 5 + Properties.Rules.length);
  const costs = {
    alarms: 0.1 * metrics + 3 * all('AWS::CloudWatch::Dashboard').length,
    keys: all('AWS::KMS::Key').length + 0.4 * (all('AWS::SecretsManager::Secret').length + providerSecrets),
    firewall: firewalls.reduce((sum, cost) => sum + cost, 0),
  };
  const total = costs.alarms + costs.keys + costs.firewall;
  const shown = Object.entries({ ...costs, total }).map(([name, cost]) => [name, Math.round(cost) || '–']);
  return { metrics, ...Object.fromEntries(shown) };
};

test('the costs of an idle stage in docs/operators/deploy.md are those of its keys, secrets, alarms, dashboard and firewall', () => {
  const dev = idleCosts(templatesOf('dev'), 0);
  const prod = idleCosts(templatesOf('prod', COMPLETE), 1);
  const page = readFileSync(new URL('../../docs/operators/deploy.md', import.meta.url), 'utf8');
  expect(page.match(/^\| (?:total|alarms|signing|firewall).+$/gm)).toEqual([
    `| total | ${dev.total} | ${prod.total} |`,
    `| alarms (${prod.metrics} metrics), dashboard | ${dev.alarms} | ${prod.alarms} |`,
    `| signing key, secrets | ${dev.keys} | ${prod.keys} |`,
    `| firewall | ${dev.firewall} | ${prod.firewall} |`,
  ]);
});

test('a day of uncompressed responses to everybody costs what docs/operators/deploy.md says, within a tenth', () => {
  const page = readFileSync(new URL('../../docs/operators/deploy.md', import.meta.url), 'utf8');
  const [, total, ofDocument, megabytes] =
    /, (\d+) for uncompressed responses\. .+ OpenAPI document is about (\d+), .+\n.+ times ([\d.]+) MB/.exec(
      page,
    ) ?? [];
  const costOf = ({ requestsPerSecond }: { requestsPerSecond: number }, bytes: number): number =>
    (0.09 * requestsPerSecond * 24 * 60 * 60 * bytes) / 1e9;
  // As API Gateway sends it, without the line breaks of the file.
  const document = costOf(openRoutes, Buffer.byteLength(JSON.stringify(openApiDocument)));
  const script = costOf(SITE_THROTTLE, 1e6 * Number(megabytes));
  expect(Math.abs(document / Number(ofDocument) - 1)).toBeLessThan(0.1);
  expect(Math.abs((document + script) / Number(total) - 1)).toBeLessThan(0.1);
});
