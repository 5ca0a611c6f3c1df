/** The numbers of the infrastructure of prod that nothing else needs to know, each with the sentence of the docs that promises it. */
import { readFileSync } from 'node:fs';
import type { Template } from 'aws-cdk-lib/assertions';
import { STAGES } from '#lib/stages.ts';
import { alarmsOf } from './cloudwatch/replay.ts';
import { EVERY_OPTION, resourcesOf, templatesOf } from './synthesized.ts';

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

/** Each with what it computes, from which value on, in how many of how many periods of how many minutes, and what missing data is. */
test('the alarms of prod compute what docs/operators/alarms.md says, each with its number, its periods and its treatment of missing data', () => {
  const numbers = alarmsOf(api, 'buyer-linking-prod-')
    .filter(({ name }) => !name.startsWith('operations-crashing'))
    .map(({ name, expression, metrics, json }) => {
      const value = expression === 'only' ? metrics[0]?.statistic : expression;
      const periods = `${json.DatapointsToAlarm} of ${json.EvaluationPeriods} x ${metrics[0]?.periodMinutes}`;
      return [name, `${value} >= ${json.Threshold}, ${periods} ${json.TreatMissingData}`] as const;
    });
  expect(Object.fromEntries(numbers)).toEqual({
    'server-errors':
      'responses - provider - limit - conflict - dependency - defect - undecided >= 5, 2 of 3 x 5 notBreaching',
    'operations-failing': 'defects + responses * 0 >= 3, 1 of 1 x 60 notBreaching',
    'service-unavailable': 'unavailable + undecided + uncounted + unread >= 5, 1 of 2 x 5 notBreaching',
    'slow-reads': 'p99 >= 2000, 3 of 3 x 5 notBreaching',
    'providers-unavailable-identity-registry':
      'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-failing-identity-registry':
      'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-unavailable-sms': 'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-failing-sms': 'IF(calls >= 5 AND share >= 0.2, 1, 0) >= 1, 1 of 1 x 15 notBreaching',
    'providers-unavailable-hourly':
      'IF(calls0 >= 3 AND share0 >= 0.5, 1, 0) + IF(calls1 >= 3 AND share1 >= 0.5, 1, 0) >= 1, 1 of 1 x 60 notBreaching',
    'codes-unredeemed':
      'IF(sent0 >= 10 AND redeemed0 < sent0 * 0.2, 1, 0) + IF(sent1 >= 10 AND redeemed1 < sent1 * 0.2, 1, 0) >= 1, 2 of 2 x 15 notBreaching',
    'codes-unredeemed-hourly':
      'IF(redeemed0 < sent0 * 0.5, 1, 0) + IF(redeemed1 < sent1 * 0.5, 1, 0) >= 1, 3 of 3 x 20 notBreaching',
    flood:
      '(malformed + unknown) / 9000 + (pages + missing) / 1500 + blocked / 1000 >= 1, 1 of 2 x 5 notBreaching',
    'codes-rejected': 'above + rejected / 100 >= 1, 1 of 2 x 5 notBreaching',
    'ceiling-paid-checks-per-day': 'Maximum >= 80, 1 of 1 x 5 ignore',
    'ceiling-sms-per-day': 'Maximum >= 80, 1 of 1 x 5 ignore',
    'certificate-expiring': 'IF(days <= 30, 1, 0) >= 1, 1 of 1 x 1440 breaching',
    canary: 'Sum >= 1, 2 of 3 x 5 breaching',
  });
});

test('the access log has the value of each field that a runbook reads', () => {
  const [format] = distinct(
    api,
    'AWS::ApiGateway::Stage',
    (stage: { AccessLogSetting: { Format: string } }) => stage.AccessLogSetting.Format,
  );
  expect(JSON.parse(String(format))).toEqual({
    time: '$context.requestTime',
    request_id: '$context.extendedRequestId',
    domain: '$context.domainName',
    method: '$context.httpMethod',
    resource: '$context.resourcePath',
    status: '$context.status',
    refusal: '$context.error.responseType',
    key_id: '$context.authorizer.principalId',
    seller_id: '$context.authorizer.sellerId',
    address: '$context.identity.sourceIp',
    latency_ms: '$context.responseLatency',
    authorizer_status: '$context.authorizer.status',
    authorizer_ms: '$context.authorizer.latency',
    function_status: '$context.integrationStatus',
    function_ms: '$context.integrationLatency',
    function_request_id: '$context.awsEndpointRequestId',
    response_bytes: '$context.responseLength',
  });
});

test('the saved log queries filter as the runbooks say, and that of a seller shows the latest 200', () => {
  const queries = Object.values(resourcesOf(api, 'AWS::Logs::QueryDefinition')).map(({ Properties }) => ({
    name: Properties.Name.replace('buyer-linking-prod-api/', ''),
    text: Properties.QueryString as string,
  }));
  const filters = queries.map(({ name, text }) => [name, /^(?:\| )?filter (.+)$/m.exec(text)?.[1]]);
  expect(Object.fromEntries(filters)).toEqual({
    '5xx by cause': 'event = "request_completed" and status >= 500',
    '5xx by seller': 'status >= 500',
    'calls without an answer':
      'event in ["rate_limiter_unreachable", "secret_refresh_failed"] or cause_kind = "dependency" or outcome = "unavailable"',
    'codes by seller': 'event in ["code_sent", "code_redeemed"]',
    'failing providers': 'event = "provider_failed" or cause_kind = "provider"',
    'internal errors': 'event = "request_failed"',
    'limits used up': 'event in ["key_limit_used_up", "failed_verifies_above_limit"]',
    'one request':
      'request_id = "<id>" or requestId = "<function_request_id>" or record.requestId = "<function_request_id>"',
    'refused by address': 'status = 401 or status = 429',
    'requests of a key': 'key_id = "<id>"',
    'requests of a seller': 'event = "request_completed" and seller_id = "<id>"',
    'requests that cost':
      'event = "request_completed" and operation in ["create-user", "check-user", "send-otp"]',
    'slow lists': 'event = "request_completed" and operation = "list-users"',
    'unreadable responses': 'event = "request_completed" and cause_reason in ["no_verdict", "malformed"]',
    'wrong codes': 'resource = "/v1/auth/otp/verify"',
  });
  expect(queries.filter(({ text }) => text.endsWith('\n| limit 200')).map(({ name }) => name)).toEqual([
    'requests of a seller',
  ]);
});

test('the graphs of the dashboard have the statistic of their title, each minute', () => {
  const [dashboard] = Object.values(resourcesOf(api, 'AWS::CloudWatch::Dashboard'));
  const body: string = dashboard?.Properties.DashboardBody['Fn::Join'][1]
    .map((part: unknown) => (typeof part === 'string' ? part : 'x'))
    .join('');
  interface Widget {
    readonly properties: { readonly title: string; readonly metrics?: readonly (readonly unknown[])[] };
  }
  const { widgets }: { widgets: Widget[] } = JSON.parse(body);
  const statistics = widgets.flatMap(({ properties: { title, metrics } }) => {
    const texts = metrics?.map((metric) => JSON.stringify(metric)) ?? [];
    const found = texts.map((text) => /"stat":"(\w+)"/.exec(text)?.[1] ?? /', '(\w+)', 60\)/.exec(text)?.[1]);
    return metrics === undefined || texts.some((text) => !text.includes('"period":60'))
      ? []
      : [[title, [...new Set(found)].join(' ')]];
  });
  expect(Object.fromEntries(statistics)).toEqual({
    'Responses by operation and code': 'SampleCount',
    'Traffic by plan': 'Sum',
    'Function time by operation (p99 of successful requests, ms)': 'p99',
    'API Gateway latency (ms) and 5xx responses': 'p50 p99 Sum',
    'Server errors by what they come from': 'Sum',
    'Calls of a port that no provider answered, or not the first one': 'Sum',
    'Key checks by result': 'Sum',
    'Provider calls by outcome': 'Sum',
    'Provider time (p99, ms)': 'p99',
    'Table: consumed capacity': 'Sum',
    'Calls to AWS that passed without an answer': 'Sum',
  });
});
