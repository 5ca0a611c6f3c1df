import { describe, expect, test } from '@jest/globals';
import { callsProviders, variablesOf } from '#lib/function-variables.ts';
import { OUTPUTS } from '#lib/outputs.ts';
import { STAGES } from '#lib/stages.ts';
import { PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import { requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { type Method, methodsOf } from './methods.ts';
import { resourcesOf, templatesOf } from './synthesised.ts';

const dev = templatesOf('dev');
const prod = templatesOf('prod', { alarms: { email: 'on-call@example.com' } });
const stages = [
  ['dev', dev],
  ['prod', prod],
] as const;

/** The function of a row, by the first part of its logical id: its construct is named after the row. */
const functionOf = ({ api }: typeof dev, name: string) => {
  const id = name.replaceAll('-', '');
  const found = Object.entries(resourcesOf(api, 'AWS::Lambda::Function')).filter(([logicalId]) =>
    logicalId.startsWith(`${id}Function`),
  );
  expect(found).toHaveLength(1);
  return found[0]?.[1].Properties;
};

const methodOf = (
  template: typeof dev,
  route: { readonly method: string; readonly path: string },
): Method => {
  const found = methodsOf(template.api).filter(
    ({ method, path }) => method === route.method && path === route.path,
  );
  expect(found).toHaveLength(1);
  return found[0] as Method;
};

describe('functions and methods', () => {
  test('there is one method a row and no other', () => {
    expect(
      methodsOf(dev.api)
        .map(({ method, path }) => `${method} ${path}`)
        .sort(),
    ).toEqual(allRoutes.map(({ method, path }) => `${method} ${path}`).sort());
  });

  test('there is one function a row, the authorizer, and no other', () => {
    dev.api.resourceCountIs('AWS::Lambda::Function', allRoutes.length + 1);
  });

  test('large answers are compressed: the reference page loads half a megabyte, not two', () => {
    dev.api.hasResourceProperties('AWS::ApiGateway::RestApi', { MinimumCompressionSize: 10_240 });
  });

  test('the canary is the only other function in prod', () => {
    prod.api.resourceCountIs('AWS::Lambda::Function', allRoutes.length + 2);
  });

  test.each(allRoutes.map((route) => [route.name, route] as const))(
    '%s is invoked by its own method and runs with the memory and time of its row',
    (name, route) => {
      const { Code: _code, ...lambda } = functionOf(dev, name);
      expect(lambda).toMatchObject({
        MemorySize: route.memoryMb,
        Timeout: route.timeoutSeconds,
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        TracingConfig: { Mode: 'Active' },
      });
      expect(lambda.LoggingConfig.LogFormat).toBe('JSON');
      expect(lambda.Timeout).toBeLessThan(29);
      expect(JSON.stringify(methodOf(dev, route).integration)).toContain(
        `${name.replaceAll('-', '')}Function`,
      );
    },
  );

  test.each(allRoutes.map((route) => [route.name, route] as const))(
    '%s gets the variables that its needs ask for and no other',
    (name, route) => {
      const variables = Object.keys(functionOf(dev, name).Environment?.Variables ?? {});
      expect(variables.sort()).toEqual([...variablesOf(route)].sort());
    },
  );

  test('no variable holds a secret: secrets are named by ARN or by name', () => {
    expect(functionOf(dev, 'create-user').Environment.Variables).toMatchObject({
      HASH_SECRET: { 'Fn::ImportValue': expect.stringContaining('HashSecret') },
      PROVIDER_SECRET: 'buyer-linking/dev/providers',
    });
  });
});

describe('who may call', () => {
  test.each(stages)('in %s every row with a key has the authorizer and asks for a key', (_, template) => {
    const keyed = allRoutes.filter((route) => requiresKey(route, 'api-key'));
    for (const route of keyed) {
      expect(methodOf(template, route)).toMatchObject({ authorization: 'CUSTOM', apiKeyRequired: true });
    }
    expect(keyed.map(({ name }) => name)).toEqual(['create-user', 'list-users', 'send-otp', 'verify-otp']);
  });

  test.each(stages)('in %s the rows open to all are exactly these', (_, template) => {
    const open = methodsOf(template.api).filter(({ authorization }) => authorization === 'NONE');
    expect(open.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /.well-known/jwks.json',
      'GET /docs',
      'GET /docs/{file}',
      'GET /v1/openapi.json',
    ]);
    expect(open.map(({ apiKeyRequired }) => apiKeyRequired)).not.toContain(true);
  });

  test('otpAccess "public" opens the one-time-code rows and no other', () => {
    const { api } = templatesOf('dev', { otpAccess: 'public', firewall: { requestsPerAddress: 100 } });
    const keyed = methodsOf(api).filter(({ authorization }) => authorization === 'CUSTOM');
    expect(keyed.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /v1/users',
      'POST /v1/users',
    ]);
  });

  test('the authorizer is asked once a key in five minutes, and names the key of the usage plan', () => {
    dev.api.hasResourceProperties('AWS::ApiGateway::Authorizer', {
      Type: 'REQUEST',
      IdentitySource: 'method.request.header.X-Api-Key',
      AuthorizerResultTtlInSeconds: 300,
    });
    dev.api.hasResourceProperties('AWS::ApiGateway::RestApi', { ApiKeySourceType: 'AUTHORIZER' });
  });

  test('every open row is throttled by the stage', () => {
    const settings: { HttpMethod: string; ResourcePath: string }[] = Object.values(
      resourcesOf(dev.api, 'AWS::ApiGateway::Stage'),
    ).flatMap(({ Properties }) => Properties.MethodSettings);
    const throttled = settings.map(
      // CloudFormation takes a path with its slashes escaped, but for the first.
      ({ HttpMethod, ResourcePath }) => `${HttpMethod} ${ResourcePath.slice(1).replaceAll('~1', '/')}`,
    );
    const open = allRoutes.filter((route) => !requiresKey(route, 'api-key'));
    expect(throttled.sort()).toEqual(open.map(({ method, path }) => `${method} ${path}`).sort());
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
  });
});

describe('outputs', () => {
  test('everything that the admin CLI looks up is there', () => {
    const { egressAddress, domainTarget, ...always } = OUTPUTS;
    expect(Object.keys(dev.api.findOutputs('*'))).toEqual(expect.arrayContaining(Object.values(always)));
  });

  test('the address that providers allow-list is an output where there is one', () => {
    expect(Object.keys(prod.api.findOutputs('*'))).toContain(OUTPUTS.egressAddress);
    expect(Object.keys(dev.api.findOutputs('*'))).not.toContain(OUTPUTS.egressAddress);
  });
});

describe('staticEgress', () => {
  test('puts exactly the functions that call providers into the network', () => {
    for (const route of allRoutes) {
      expect(functionOf(prod, route.name).VpcConfig !== undefined).toBe(callsProviders(route));
    }
  });

  test('is one NAT gateway with an Elastic IP, and DynamoDB is reached without it', () => {
    prod.api.resourceCountIs('AWS::EC2::NatGateway', 1);
    prod.api.resourceCountIs('AWS::EC2::EIP', 1);
    prod.api.hasResourceProperties('AWS::EC2::VPCEndpoint', { VpcEndpointType: 'Gateway' });
  });

  test('off, there is no network at all', () => {
    dev.api.resourceCountIs('AWS::EC2::VPC', 0);
    expect(functionOf(dev, 'create-user').VpcConfig).toBeUndefined();
  });
});

describe('the firewall', () => {
  test('stands before the stage of prod with a limit for each address', () => {
    prod.api.resourceCountIs('AWS::WAFv2::WebACLAssociation', 1);
    const [firewall] = Object.values(resourcesOf(prod.api, 'AWS::WAFv2::WebACL'));
    expect(firewall?.Properties.Rules[0].Statement.RateBasedStatement).toMatchObject({
      AggregateKeyType: 'IP',
      Limit: STAGES.prod.firewall.requestsPerAddress,
    });
  });

  test('keeps no samples of requests, since their headers hold keys', () => {
    expect(JSON.stringify(prod.api.toJSON())).not.toContain('"SampledRequestsEnabled":true');
  });
});

describe('logs', () => {
  test('every log group ends its logs in time', () => {
    for (const { Properties } of Object.values(resourcesOf(dev.api, 'AWS::Logs::LogGroup'))) {
      expect(Properties.RetentionInDays).toBe(14);
    }
  });

  test('the access log holds nothing that a caller sent', () => {
    const [stage] = Object.values(resourcesOf(dev.api, 'AWS::ApiGateway::Stage'));
    const format: string = stage?.Properties.AccessLogSetting.Format;
    expect(Object.keys(JSON.parse(format))).toContain('request_id');
    expect(format).not.toMatch(/identity\.apiKey|context\.path|header|querystring|userAgent|error\.message/);
  });

  test('API Gateway itself logs no request', () => {
    const stage = JSON.stringify(resourcesOf(prod.api, 'AWS::ApiGateway::Stage'));
    expect(stage).not.toContain('"DataTraceEnabled":true');
    expect(stage).not.toContain('LoggingLevel');
  });
});
