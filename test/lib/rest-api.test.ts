import { authorizerIdOf } from '#lib/methods.ts';
import { STAGES } from '#lib/stages.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { forEachPath, type Route, requiresKey } from '#shared/route.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { methodOf, methodsOf } from './methods.ts';
import {
  COMPLETE,
  EVERY_OPTION,
  ON_RESTORED_TABLE,
  OTHER_OPTIONS,
  resourcesOf,
  templatesOf,
} from './synthesized.ts';

const dev = templatesOf('dev').api;
const prod = templatesOf('prod', COMPLETE).api;
/** With public one-time codes, and a domain beside the default endpoint. */
const openOtp = templatesOf('prod', OTHER_OPTIONS).api;
const stages = [
  ['dev', dev],
  ['prod', prod],
] as const;

/** Named here once more, so that a row cannot become public by mistake. */
const PUBLIC_OPERATIONS = [
  'GET /',
  'GET /.well-known/jwks.json',
  'GET /.well-known/openid-configuration',
  'GET /docs',
  'GET /docs/{path+}',
  'GET /v1/openapi.json',
];

/** A public row answers HEAD too. */
const HEADS = PUBLIC_OPERATIONS.map((operation) => operation.replace('GET', 'HEAD'));

interface Throttle {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

const nameOf = ({ method, path }: { readonly method: string; readonly path: string }) => `${method} ${path}`;

describe('methods', () => {
  test('the API has exactly one method for each path of a row, and HEAD of the public ones', () => {
    expect(methodsOf(dev).map(nameOf).sort()).toEqual(
      [...forEachPath(allRoutes).map(nameOf), ...HEADS].sort(),
    );
  });

  test.each(stages)('in %s every row with a key has the authorizer and requires an API key', (_, api) => {
    const keyed = allRoutes.filter((route) => requiresKey(route, 'api-key'));
    expect(keyed.length).toBeGreaterThanOrEqual(4);
    for (const route of keyed) {
      expect(methodOf(api, route)).toMatchObject({ authorization: 'CUSTOM', apiKeyRequired: true });
    }
  });

  test.each(stages)('in %s the open operations are exactly these', (_, api) => {
    const open = methodsOf(api).filter(({ authorization }) => authorization === 'NONE');
    expect(open.map(nameOf).sort()).toEqual([...PUBLIC_OPERATIONS, ...HEADS]);
    expect(open.map(({ apiKeyRequired }) => apiKeyRequired)).not.toContain(true);
  });

  test('otpAccess "public" opens the one-time-code rows and no other', () => {
    const keyed = methodsOf(openOtp).filter(({ authorization }) => authorization === 'CUSTOM');
    const rows = allRoutes.filter(({ access }) => access.by === 'key');
    expect(keyed.map(nameOf).sort()).toEqual(rows.map(nameOf).sort());
    for (const id of ['sendotp', 'verifyotp']) {
      const [, lambda] =
        Object.entries(resourcesOf(openOtp, 'AWS::Lambda::Function')).find(([name]) => name.startsWith(id)) ??
        [];
      expect(lambda?.Properties.Environment.Variables.OTP_ACCESS).toBe('public');
    }
  });

  test('otpAccess "public" leaves out the rows for the buyer app, so that their paths are not found', () => {
    const served = allRoutes.filter(({ access }) => access.by !== 'buyer');
    expect(methodsOf(openOtp).map(nameOf).sort()).toEqual(
      [...forEachPath(served).map(nameOf), ...HEADS].sort(),
    );
  });

  test.each(stages)(
    'the stage %s throttles the operations with a key over all keys, each open path, those of the documentation site to 10 requests a second with a burst of 200, and HEAD of a public one to a tenth of it',
    (name, api) => {
      const { keyedRoutes, openRoutes } = STAGES[name];
      const throttle = ({ requestsPerSecond, burst }: Throttle, part = 1) => [
        requestsPerSecond / part,
        burst / part,
      ];
      const [stage] = Object.values(resourcesOf(api, 'AWS::ApiGateway::Stage'));
      const settings: readonly {
        readonly HttpMethod: string;
        readonly ResourcePath: string;
        readonly ThrottlingRateLimit: number;
        readonly ThrottlingBurstLimit: number;
      }[] = stage?.Properties.MethodSettings;
      const open = forEachPath(allRoutes).filter((route) => !requiresKey(route, 'api-key'));
      const throttleOf = (operation: string) =>
        / \/(?:docs|$)/.test(operation) ? { requestsPerSecond: 10, burst: 200 } : openRoutes;
      const expected = [
        ['* *', throttle(keyedRoutes)],
        ...open.map((route) => [nameOf(route), throttle(throttleOf(nameOf(route)))]),
        ...HEADS.map((operation) => [operation, throttle(throttleOf(operation), 10)]),
      ];
      expect(settings).toHaveLength(expected.length);
      expect(
        Object.fromEntries(
          settings.map(({ HttpMethod, ResourcePath, ThrottlingRateLimit, ThrottlingBurstLimit }) => [
            // CloudFormation escapes every slash of a path but the first; the root is one slash.
            `${HttpMethod} ${ResourcePath.slice(1).replaceAll('~1', '/') || '/'}`,
            [ThrottlingRateLimit, ThrottlingBurstLimit],
          ]),
        ),
      ).toEqual(Object.fromEntries(expected));
    },
  );
});

describe('the authorizer', () => {
  test('caches a policy for five minutes, and its response selects the usage plan', () => {
    dev.hasResourceProperties('AWS::ApiGateway::Authorizer', {
      Type: 'REQUEST',
      IdentitySource: 'method.request.header.X-Api-Key',
      AuthorizerResultTtlInSeconds: 300,
    });
    dev.hasResourceProperties('AWS::ApiGateway::RestApi', { ApiKeySourceType: 'AUTHORIZER' });
  });

  const id = authorizerIdOf(allRoutes, 'api-key');
  const added: Route = { ...routes['list-users'], method: 'PATCH' };
  const withOtherScope = allRoutes.map((route) =>
    route.name === 'list-users' ? { ...route, access: { by: 'key', scope: 'users:write' } as const } : route,
  );

  test.each([
    ['a keyed operation is added', authorizerIdOf([...allRoutes, added], 'api-key')],
    ['a keyed operation is removed', authorizerIdOf(allRoutes.slice(1), 'api-key')],
    ['an operation requires another scope', authorizerIdOf(withOtherScope, 'api-key')],
    ['the one-time-code operations become public', authorizerIdOf(allRoutes, 'public')],
  ])('gets another id when %s', (_, changed) => {
    expect(changed).not.toBe(id);
  });

  test('keeps its id when only the order of the rows or an open row changes', () => {
    expect(authorizerIdOf(allRoutes.toReversed(), 'api-key')).toBe(id);
    const openRow: Route = { ...routes['get-jwks'], path: '/another' };
    expect(authorizerIdOf([...allRoutes, openRow], 'api-key')).toBe(id);
  });

  test('is replaced as a resource, under another name, when its id changes, and the stage is deployed anew', () => {
    const one = (api: typeof dev, type: string) => {
      const [[logicalId, { Properties }] = ['', { Properties: {} }], ...others] = Object.entries(
        resourcesOf(api, type),
      );
      expect(others).toEqual([]);
      return { logicalId, name: Properties.Name };
    };
    const [before, after] = [prod, openOtp].map((api) => one(api, 'AWS::ApiGateway::Authorizer'));
    expect(after?.logicalId).not.toBe(before?.logicalId);
    expect(after?.name).not.toBe(before?.name);
    expect(one(openOtp, 'AWS::ApiGateway::Deployment').logicalId).not.toBe(
      one(prod, 'AWS::ApiGateway::Deployment').logicalId,
    );
  });

  test('is deployed only after API Gateway has the permission to invoke its function', () => {
    const [deployment] = Object.values(resourcesOf(dev, 'AWS::ApiGateway::Deployment'));
    const permissions = Object.entries(resourcesOf(dev, 'AWS::Lambda::Permission')).filter(
      ([, { Properties }]) => JSON.stringify(Properties.SourceArn).includes('/authorizers/'),
    );
    expect(permissions).toHaveLength(1);
    expect(deployment?.DependsOn).toContain(permissions[0]?.[0]);
  });
});

describe('TLS', () => {
  const TLS = { SecurityPolicy: 'SecurityPolicy_TLS13_1_2_PFS_PQ_2025_09', EndpointAccessMode: 'STRICT' };

  test.each(stages)(
    'the default endpoint of %s is in its Region and accepts TLS 1.2 and newer only',
    (_, api) => {
      api.hasResourceProperties('AWS::ApiGateway::RestApi', {
        ...TLS,
        EndpointConfiguration: { Types: ['REGIONAL'] },
      });
    },
  );

  test('a custom domain accepts TLS 1.2 and newer only', () => {
    templatesOf('prod', EVERY_OPTION).api.hasResourceProperties('AWS::ApiGateway::DomainName', TLS);
  });
});

describe('a custom domain', () => {
  /** The default endpoint refers to the API. */
  const DEFAULT_ENDPOINT = /^https:\/\/\{.*\}\.execute-api\..*\/(?:dev|prod)$/;

  const issuersOf = (api: typeof dev): string[] => {
    const [verify] = Object.entries(resourcesOf(api, 'AWS::Lambda::Function')).filter(([name]) =>
      name.startsWith('verifyotp'),
    );
    const value = verify?.[1].Properties.Environment.Variables.TOKEN_ISSUERS;
    const parts: readonly unknown[] = typeof value === 'string' ? [value] : value['Fn::Join'][1];
    return parts
      .map((part) => (typeof part === 'string' ? part : JSON.stringify(part).replaceAll(',', ' ')))
      .join('')
      .split(',');
  };

  test('is added beside the default endpoint, which stays open and stays the base URL', () => {
    openOtp.resourceCountIs('AWS::ApiGateway::DomainName', 1);
    openOtp.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: false });
    expect(JSON.stringify(openOtp.findOutputs('BaseUrl'))).toContain('execute-api');
  });

  test('becomes the only address when the default endpoint is closed', () => {
    const { api } = templatesOf('prod', EVERY_OPTION);
    api.hasResourceProperties('AWS::ApiGateway::RestApi', { DisableExecuteApiEndpoint: true });
    expect(api.findOutputs('BaseUrl')).toMatchObject({ BaseUrl: { Value: 'https://api.example.com' } });
  });

  test('is an issuer of tokens where `issuers` names it, in that order and whatever the default endpoint is', () => {
    expect(issuersOf(dev)).toEqual([expect.stringMatching(DEFAULT_ENDPOINT)]);
    expect(issuersOf(openOtp)).toEqual([expect.stringMatching(DEFAULT_ENDPOINT), 'https://api.example.com']);
    expect(issuersOf(templatesOf('prod', ON_RESTORED_TABLE).api)).toEqual([
      'https://api.example.com',
      expect.stringMatching(DEFAULT_ENDPOINT),
    ]);
    expect(issuersOf(templatesOf('prod', EVERY_OPTION).api)).toEqual(['https://api.example.com']);
  });
});

describe('the firewall', () => {
  const rulesOf = (api: typeof dev) => {
    const [firewall] = Object.values(resourcesOf(api, 'AWS::WAFv2::WebACL'));
    return firewall?.Properties.Rules.map(
      ({ Statement }: { Statement: { RateBasedStatement: unknown } }) => Statement.RateBasedStatement,
    );
  };

  /** Matches a path in any encoding, and with `..%2F` in it, which API Gateway passes on as the value of a path parameter. */
  const matchesOf = (path: string) =>
    [['URL_DECODE'], ['URL_DECODE', 'NORMALIZE_PATH']].map((types) => ({
      ByteMatchStatement: {
        FieldToMatch: { UriPath: {} },
        TextTransformations: types.map((Type, Priority) => ({ Priority, Type })),
        PositionalConstraint: 'CONTAINS',
        SearchString: path,
      },
    }));
  const anyOf = (...paths: readonly string[]) => ({ OrStatement: { Statements: paths.flatMap(matchesOf) } });

  test('lets an address of prod use a fifth of the throttle of an operation, enough for three professional keys, and it takes 34 addresses to use up the authorizer', () => {
    const { firewall, keyedRoutes, reservedConcurrency } = STAGES.prod;
    expect(firewall.requestsPerAddress).toBe((keyedRoutes.requestsPerSecond * 60) / 5);
    expect(firewall.requestsPerAddress).toBeGreaterThan(3 * PLANS.professional.requestsPerMinute);
    // Lambda serves at most 10 requests a second for each unit of concurrency.
    const decisionsPerSecond = 10 * reservedConcurrency.functions.authorizer;
    expect(0.9 * decisionsPerSecond).toBe(6 * keyedRoutes.requestsPerSecond);
    expect(Math.ceil((decisionsPerSecond * 60) / firewall.requestsPerAddress)).toBe(34);
  });

  test('limits the requests of each address to the stage of prod', () => {
    prod.hasResourceProperties('AWS::WAFv2::WebACL', { Scope: 'REGIONAL', DefaultAction: { Allow: {} } });
    const [association, ...others] = Object.values(resourcesOf(prod, 'AWS::WAFv2::WebACLAssociation'));
    expect(others).toEqual([]);
    const [stage] = Object.keys(resourcesOf(prod, 'AWS::ApiGateway::Stage'));
    expect(JSON.stringify(association?.Properties.ResourceArn)).toContain(`"/stages/",{"Ref":"${stage}"}`);
    expect(rulesOf(prod)[0]).toEqual({
      AggregateKeyType: 'IP',
      Limit: STAGES.prod.firewall.requestsPerAddress,
      EvaluationWindowSec: 60,
    });
  });

  test('leaves an address a fifth of the throttle of the operations that require no key', () => {
    expect(rulesOf(prod)).toHaveLength(3);
    expect(rulesOf(prod)[1]).toEqual({
      AggregateKeyType: 'IP',
      Limit: (STAGES.prod.openRoutes.requestsPerSecond * 60) / 5,
      EvaluationWindowSec: 60,
      ScopeDownStatement: anyOf(
        '/.well-known/jwks.json',
        '/.well-known/openid-configuration',
        '/v1/openapi.json',
      ),
    });
  });

  test('lets an address load 150 files of the documentation site in a minute, a quarter of the throttle, and leaves out the root, which has no body', () => {
    expect(rulesOf(prod)[2]).toEqual({
      AggregateKeyType: 'IP',
      Limit: 150,
      EvaluationWindowSec: 60,
      ScopeDownStatement: anyOf('/docs'),
    });
  });

  test.each([
    ['/v1/auth/otp/send', 3],
    ['/v1/auth/otp/verify', 4],
  ])(
    'counts all forms of the path %s together, by the address alone, to codesPerAddress in five minutes',
    (path, index) => {
      expect(rulesOf(openOtp)[index]).toEqual({
        AggregateKeyType: 'IP',
        Limit: OTHER_OPTIONS.firewall.codesPerAddress,
        EvaluationWindowSec: 300,
        ScopeDownStatement: anyOf(path),
      });
    },
  );

  test('names each rule and its metric after what it counts', () => {
    const [firewall] = Object.values(resourcesOf(openOtp, 'AWS::WAFv2::WebACL'));
    const names = firewall?.Properties.Rules.map(
      ({ Name, VisibilityConfig }: { Name: string; VisibilityConfig: { MetricName: string } }) =>
        `${Name} ${VisibilityConfig.MetricName}`,
    );
    expect(names).toEqual([
      'requests-per-address RequestsPerAddress',
      'open-requests-per-address OpenRequestsPerAddress',
      'docs-per-address DocsPerAddress',
      'send-otp-per-address SendOtpPerAddress',
      'verify-otp-per-address VerifyOtpPerAddress',
      'malformed-keys MalformedKeys',
    ]);
  });

  describe('with blockMalformedKeys', () => {
    const ruleOf = (api: typeof dev) => {
      const [acl] = Object.values(resourcesOf(api, 'AWS::WAFv2::WebACL'));
      return acl?.Properties.Rules.find(({ Name }: { Name: string }) => Name === 'malformed-keys');
    };
    const rule = ruleOf(templatesOf('prod', EVERY_OPTION).api);
    const [onKeyedRows, isPresent, isMalformed] = rule.Statement.AndStatement.Statements;
    const { RegexString, FieldToMatch } = isMalformed.NotStatement.Statement.RegexMatchStatement;

    test('blocks an X-Api-Key that is present and has not the form of a key, and says so in a metric of its own', () => {
      expect(rule).toMatchObject({
        Action: { Block: {} },
        VisibilityConfig: { MetricName: 'MalformedKeys' },
      });
      expect(FieldToMatch).toEqual({ SingleHeader: { Name: 'x-api-key' } });
      expect(isPresent.SizeConstraintStatement).toMatchObject({
        FieldToMatch,
        ComparisonOperator: 'GE',
        Size: 1,
      });
    });

    test('blocks on the rows that require a key only', () => {
      const keyed = allRoutes.filter((row) => requiresKey(row, 'api-key')).map(({ path }) => path);
      const open = allRoutes.filter((row) => !requiresKey(row, 'api-key')).map(({ path }) => path);
      const texts: string[] = onKeyedRows.OrStatement.Statements.map(
        ({ ByteMatchStatement }: { ByteMatchStatement: { SearchString: string } }) =>
          ByteMatchStatement.SearchString,
      );
      const isMatched = (path: string) => texts.some((text) => path.includes(text));
      expect(keyed.filter((path) => !isMatched(path))).toEqual([]);
      expect(open.filter(isMatched)).toEqual([]);
      expect(ruleOf(openOtp)).toBeDefined();
      expect(JSON.stringify(ruleOf(openOtp))).not.toContain('/v1/auth/otp');
    });

    test('lets every key pass that the service issues in the stage', () => {
      for (let count = 0; count < 100; count += 1)
        expect(newApiKey('blk_live_')).toMatch(new RegExp(RegexString));
    });

    test.each([
      ['is too short', 'blk_live_short'],
      ['is too long', `${newApiKey('blk_live_')}0`],
      ['is a key of another stage', newApiKey('blk_test_')],
      ['has another character', `${newApiKey('blk_live_').slice(0, -1)}-`],
      ['is a space', ' '],
    ])('blocks a key that %s', (_, key) => {
      expect(key).not.toMatch(new RegExp(RegexString));
    });

    test('blocks no key where the setting is off', () => {
      expect(ruleOf(prod)).toBeUndefined();
    });
  });

  test('stores no samples of requests, whose headers hold API keys', () => {
    expect(JSON.stringify(prod.toJSON())).not.toContain('"SampledRequestsEnabled":true');
  });
});
