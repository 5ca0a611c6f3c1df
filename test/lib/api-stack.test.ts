import { OUTPUTS, usagePlanOutput } from '#lib/outputs.ts';
import { callsProviders, variablesOf } from '#lib/permissions.ts';
import { functionOf as functionOfRow } from '#lib/service-functions.ts';
import { STAGES } from '#lib/stages.ts';
import { PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import { allFunctions, allRoutes, routes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { methodOf } from './methods.ts';
import {
  COMPLETE,
  EVERY_OPTION,
  OTHER_OPTIONS,
  resourcesOf,
  templatesOf,
  WATCHED_DEV,
} from './synthesized.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod', COMPLETE);

const rows = allRoutes.map((route) => [route.name, route] as const);

/** Returns the function of a row. Its logical id begins with the row's name. */
const functionOf = ({ api }: typeof dev, name: string) => {
  const id = name.replaceAll('-', '');
  const found = Object.entries(resourcesOf(api, 'AWS::Lambda::Function')).filter(([logicalId]) =>
    logicalId.startsWith(`${id}Function`),
  );
  expect(found).toHaveLength(1);
  return found[0]?.[1].Properties;
};

describe('functions', () => {
  test.each([
    ['dev has', dev, 2],
    ['prod has the canary,', prod, 3],
  ])(
    'the API stack of %s one function for each row, the authorizer, the check of a deploy and its trigger',
    (_, { api }, others) => {
      api.resourceCountIs('AWS::Lambda::Function', allFunctions.length + others);
    },
  );

  itForAll(rows)(
    'each runs with the memory and timeout of its row and is called by its method',
    (name, route) => {
      const { Code: _code, ...lambda } = functionOf(dev, name);
      expect(lambda).toMatchObject({
        MemorySize: route.memoryMb,
        Timeout: route.timeoutSeconds,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
      });
      expect(JSON.stringify(methodOf(dev.api, route).integration)).toContain(
        `${name.replaceAll('-', '')}Live`,
      );
    },
  );

  test('a timeout of more than 28 s is refused by name, since API Gateway waits for 29 s', () => {
    const resources = { tableArns: [], hashSecretArn: '', providerSecretArn: '', signingKeyArns: [] };
    const withTimeout = (timeoutSeconds: number) =>
      functionOfRow({ ...routes['get-docs'], timeoutSeconds }, resources, undefined);
    expect(() => withTimeout(29)).toThrow(
      'get-docs: a timeout of 29 s is longer than the 28 s that API Gateway allows',
    );
    expect(withTimeout(28).timeoutSeconds).toBe(28);
  });

  itForAll(rows)('each has exactly the variables that its permissions require', (name, route) => {
    const { UV_THREADPOOL_SIZE: _, ...variables } = functionOf(prod, name).Environment?.Variables ?? {};
    expect(Object.keys(variables).sort()).toEqual([...variablesOf(route)].sort());
  });

  test('those that call providers have 32 threads, so that the lookups of a name that no DNS server answers hold up no other provider', () => {
    const withThreads = rows.filter(
      ([name]) => functionOf(prod, name).Environment.Variables.UV_THREADPOOL_SIZE === '32',
    );
    expect(withThreads.map(([name]) => name)).toEqual(['create-user', 'check-user', 'send-otp']);
  });

  test('variables have the values of the release and of the settings', () => {
    const variables = (stage: typeof dev, name: string) => functionOf(stage, name).Environment.Variables;
    const release = { RELEASE_VERSION: '1.2.3', RELEASE_COMMIT: '0123456789ab' };
    const support = { SUPPORT_EMAIL: 'api@example.com', STATUS_URL: 'https://status.example.com' };
    expect(variables(prod, 'get-openapi')).toMatchObject({ ...release, ...support });
    expect(variables(prod, 'get-docs')).toMatchObject({
      ...support,
      BUYER_APP_URL: 'https://buyers.example.com',
    });
    for (const name of ['authorizer', 'create-user', 'rotate-key']) {
      expect([dev, prod].map((stage) => variables(stage, name).KEY_PREFIX)).toEqual([
        'blk_test_',
        'blk_live_',
      ]);
    }
    expect(variables(prod, 'send-otp').OTP_ACCESS).toBe('api-key');
  });

  test('variables name secrets by ARN or name and hold none', () => {
    expect(functionOf(dev, 'create-user').Environment.Variables).toMatchObject({
      HASH_SECRET: { 'Fn::ImportValue': expect.stringContaining('HashSecret') },
      PROVIDER_SECRET: 'buyer-linking/dev/providers',
    });
  });
});

describe('daily ceilings', () => {
  test('a ceiling of the config reaches the function that it limits and no other', () => {
    const variables = (name: string) => functionOf(prod, name).Environment.Variables;
    expect(variables('create-user').PAID_CHECKS_PER_DAY).toBe('5000');
    expect(variables('create-user').SMS_PER_DAY).toBeUndefined();
    expect(variables('send-otp').SMS_PER_DAY).toBe('10000');
    expect(variables('send-otp').PAID_CHECKS_PER_DAY).toBeUndefined();
  });

  test('no function has the variable of a ceiling that is null', () => {
    const text = JSON.stringify(resourcesOf(dev.api, 'AWS::Lambda::Function'));
    expect(text.match(/PAID_CHECKS_PER_DAY|SMS_PER_DAY/)).toBeNull();
  });
});

test('functions call the providers of each port in the order of the stage', () => {
  const { identityRegistry, sms } = STAGES.prod.providers;
  for (const name of ['create-user', 'check-user', 'send-otp']) {
    const { IDENTITY_PROVIDERS, SMS_PROVIDERS } = functionOf(prod, name).Environment.Variables;
    expect([IDENTITY_PROVIDERS, SMS_PROVIDERS]).toEqual(
      name === 'send-otp' ? [undefined, sms.join(',')] : [identityRegistry.join(','), undefined],
    );
  }
  expect([...identityRegistry, ...sms]).toEqual(['jibit', 'zohal', 'kavenegar', 'sms-ir']);
});

describe('reserved concurrency', () => {
  test('dev reserves none', () => {
    const text = JSON.stringify(resourcesOf(dev.api, 'AWS::Lambda::Function'));
    expect(text).not.toContain('ReservedConcurrentExecutions');
  });

  test('prod keeps concurrency for signing in and the authorizer, bounds what waits, gives the check before traffic one, and leaves 219 of 1,000 to all others', () => {
    const reserved = Object.fromEntries(
      allFunctions.map(({ name }) => [name, functionOf(prod, name).ReservedConcurrentExecutions]),
    );
    const others = Object.fromEntries(allRoutes.map(({ name }) => [name, undefined]));
    expect(reserved).toEqual({ ...others, ...STAGES.prod.reservedConcurrency.functions });
    const all = Object.values(resourcesOf(prod.api, 'AWS::Lambda::Function')).map(
      ({ Properties }) => Properties.ReservedConcurrentExecutions ?? 0,
    );
    expect(all.reduce((sum, each) => sum + each, 0)).toBe(781);
  });
});

describe('plans', () => {
  test('each plan of shared/rate-limits/plans.ts is a usage plan of rate n/60 and burst 2n', () => {
    const throttles = Object.values(resourcesOf(dev.api, 'AWS::ApiGateway::UsagePlan')).map(
      ({ Properties }) => Properties.Throttle,
    );
    expect(throttles).toEqual(
      PLAN_NAMES.map((plan) => ({
        RateLimit: PLANS[plan].requestsPerMinute / 60,
        BurstLimit: PLANS[plan].requestsPerMinute * 2,
      })),
    );
    const stages = Object.values(resourcesOf(dev.api, 'AWS::ApiGateway::UsagePlan')).map(
      ({ Properties }) => Properties.ApiStages,
    );
    const [stage] = Object.keys(resourcesOf(dev.api, 'AWS::ApiGateway::Stage'));
    expect(stages).toMatchObject(PLAN_NAMES.map(() => [{ ApiId: expect.anything(), Stage: { Ref: stage } }]));
  });
});

describe('outputs', () => {
  test('the API stack has every output that the admin CLI reads', () => {
    const { canarySecretArn, dashboardName, alarmTopicArn, egressAddress, domainTarget, ...always } = OUTPUTS;
    const names = [...Object.values(always), ...PLAN_NAMES.map(usagePlanOutput)];
    expect(Object.keys(dev.api.findOutputs('*'))).toEqual(expect.arrayContaining(names));
  });

  test('the name of the dashboard, which CloudFormation makes, is an output of a stage that has one', () => {
    const [dashboard] = Object.keys(resourcesOf(prod.api, 'AWS::CloudWatch::Dashboard'));
    prod.api.hasOutput(OUTPUTS.dashboardName, { Value: { Ref: dashboard } });
    expect(Object.keys(dev.api.findOutputs('*'))).not.toContain(OUTPUTS.dashboardName);
  });

  test('the address for providers is an output of a stage with staticEgress only', () => {
    const { api } = templatesOf('prod', EVERY_OPTION);
    expect(Object.keys(api.findOutputs('*'))).toContain(OUTPUTS.egressAddress);
    expect(Object.keys(dev.api.findOutputs('*'))).not.toContain(OUTPUTS.egressAddress);
  });
});

describe('staticEgress', () => {
  const withEgress = templatesOf('prod', EVERY_OPTION);
  const named = templatesOf('dev', WATCHED_DEV);

  test('puts exactly the functions that call providers into the network', () => {
    for (const route of allRoutes) {
      expect(functionOf(withEgress, route.name).VpcConfig !== undefined).toBe(callsProviders(route));
    }
  });

  test('adds one NAT gateway with an Elastic IP and a gateway endpoint for DynamoDB', () => {
    withEgress.api.resourceCountIs('AWS::EC2::NatGateway', 1);
    withEgress.api.resourceCountIs('AWS::EC2::EIP', 1);
    withEgress.api.hasResourceProperties('AWS::EC2::VPCEndpoint', { VpcEndpointType: 'Gateway' });
  });

  test('lets functions connect to port 443 only, and nothing connect to them', () => {
    const [group, ...others] = Object.values(resourcesOf(withEgress.api, 'AWS::EC2::SecurityGroup'));
    expect(others).toEqual([]);
    expect(group?.Properties.SecurityGroupIngress).toBeUndefined();
    expect(group?.Properties.SecurityGroupEgress).toMatchObject([
      { CidrIp: '0.0.0.0/0', IpProtocol: 'tcp', FromPort: 443, ToPort: 443 },
    ]);
    for (const direction of ['Ingress', 'Egress'])
      withEgress.api.resourceCountIs(`AWS::EC2::SecurityGroup${direction}`, 0);
  });

  test('keeps its address in prod once it was in use, since AWS gives a released address to somebody else', () => {
    const policiesOf = (template: typeof dev.api) =>
      Object.values(resourcesOf(template, 'AWS::EC2::EIP')).map(({ DeletionPolicy }) => DeletionPolicy);
    expect(policiesOf(withEgress.api)).toEqual(['RetainExceptOnCreate']);
    expect(policiesOf(named.api)).toEqual(['Delete']);
  });

  test("has with 'one-in-each-zone' a NAT gateway and an address in each zone, and keeps the first address", () => {
    const { api } = templatesOf('prod', OTHER_OPTIONS);
    const idsOf = (template: typeof api, type: string) => Object.keys(resourcesOf(template, type));
    const [before, after] = [withEgress.api, api].map((template) => ({
      addresses: idsOf(template, 'AWS::EC2::EIP'),
      gateways: resourcesOf(template, 'AWS::EC2::NatGateway'),
    }));
    expect(after?.addresses).toHaveLength(2);
    expect(after?.addresses).toEqual(expect.arrayContaining(before?.addresses ?? []));
    expect(after?.gateways).toMatchObject(before?.gateways ?? {});
    const gateways = Object.values(after?.gateways ?? {}).map(({ Properties }) => Properties);
    expect(new Set(gateways.map(({ SubnetId }) => SubnetId.Ref)).size).toBe(2);
    const routesToNat = Object.values(resourcesOf(api, 'AWS::EC2::Route')).flatMap(
      ({ Properties }) => Properties.NatGatewayId?.Ref ?? [],
    );
    expect(routesToNat.sort()).toEqual(idsOf(api, 'AWS::EC2::NatGateway').sort());
    api.hasOutput(OUTPUTS.egressAddress, {
      Value: { 'Fn::Join': ['', [{ Ref: after?.addresses[0] }, ',', { Ref: after?.addresses[1] }]] },
    });
  });

  test('puts its subnets into the zones that it names, or into the first two of the Region', () => {
    const zonesOf = (template: typeof dev.api) => {
      const subnets = Object.values(resourcesOf(template, 'AWS::EC2::Subnet'));
      return subnets.map(({ Properties }) => Properties.AvailabilityZone);
    };
    const first = { 'Fn::Select': [0, { 'Fn::GetAZs': '' }] };
    const second = { 'Fn::Select': [1, { 'Fn::GetAZs': '' }] };
    expect(zonesOf(withEgress.api)).toEqual([first, second, first, second]);
    expect(zonesOf(named.api)).toEqual(['us-east-1a', 'us-east-1c', 'us-east-1a', 'us-east-1c']);
  });

  test('adds no network when it is off', () => {
    dev.api.resourceCountIs('AWS::EC2::VPC', 0);
    expect(functionOf(dev, 'create-user').VpcConfig).toBeUndefined();
  });
});

describe('logs and compression', () => {
  test('every log group of prod is kept, except one of a first deploy that failed', () => {
    const policies = Object.values(resourcesOf(prod.api, 'AWS::Logs::LogGroup')).map(
      ({ DeletionPolicy }) => DeletionPolicy,
    );
    expect(new Set(policies)).toEqual(new Set(['RetainExceptOnCreate']));
  });

  test('every log group has a retention time', () => {
    const groups = Object.values(resourcesOf(dev.api, 'AWS::Logs::LogGroup'));
    expect(groups.length).toBeGreaterThan(allRoutes.length);
    for (const { Properties } of groups) expect(Properties.RetentionInDays).toBe(14);
  });

  test('the access log holds nothing that a caller sent', () => {
    const [stage] = Object.values(resourcesOf(dev.api, 'AWS::ApiGateway::Stage'));
    const format: string = stage?.Properties.AccessLogSetting.Format;
    expect(Object.keys(JSON.parse(format))).toContain('request_id');
    expect(format).not.toMatch(/identity\.apiKey|context\.path|header|querystring|userAgent|error\.message/);
  });

  test.each([
    ['dev', dev],
    ['prod', prod],
  ])('nothing writes a trace in %s: one of API Gateway would hold the URL with its query', (_, { api }) => {
    const stages = Object.values(resourcesOf(api, 'AWS::ApiGateway::Stage'));
    expect(stages.map(({ Properties }) => Properties.TracingEnabled)).toEqual([false]);
    const functions = Object.values(resourcesOf(api, 'AWS::Lambda::Function'));
    for (const { Properties } of functions) {
      expect(Properties.TracingConfig).toBeUndefined();
      // A layer or a wrapper could write one.
      expect(Properties.Layers).toBeUndefined();
      expect(Object.keys(Properties.Environment?.Variables ?? {}).join()).not.toMatch(/WRAPPER|XRAY|OTEL/);
    }
  });

  test('API Gateway writes no execution log', () => {
    const stage = JSON.stringify(resourcesOf(prod.api, 'AWS::ApiGateway::Stage'));
    expect(stage).toContain('AccessLogSetting');
    expect(stage).not.toContain('"DataTraceEnabled":true');
    expect(stage).not.toContain('LoggingLevel');
  });

  test('responses of 10 KiB and more are compressed', () => {
    dev.api.hasResourceProperties('AWS::ApiGateway::RestApi', { MinimumCompressionSize: 10_240 });
  });
});
