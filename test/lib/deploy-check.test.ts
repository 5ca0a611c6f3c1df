import { Template } from 'aws-cdk-lib/assertions';
import { TIME_MS } from '#probe/check-versions.ts';
import { isServed } from '#shared/route.ts';
import { allFunctions } from '#shared/routes.ts';
import { COMPLETE, OTHER_OPTIONS, resourcesOf, stageConfig, synthesize, templatesOf } from './synthesized.ts';

const prod = templatesOf('prod', COMPLETE).api;
const publicCodes = templatesOf('prod', OTHER_OPTIONS);

const idsOf = (template: Template, type: string, prefix = ''): readonly string[] =>
  Object.keys(resourcesOf(template, type)).filter((id) => id.startsWith(prefix));

const idOf = (name: string): string => name.replaceAll('-', '');

const only = (ids: readonly string[]): string => {
  expect(ids).toHaveLength(1);
  return String(ids[0]);
};

const [trigger] = idsOf(prod, 'Custom::Trigger');

const SERVED = allFunctions.map(({ name }) => name);

/** The environment of the checker. */
const variablesOf = (template: Template) => {
  const checker = only(idsOf(template, 'AWS::Lambda::Function', 'deploycheck'));
  return resourcesOf(template, 'AWS::Lambda::Function')[checker]?.Properties.Environment.Variables ?? {};
};

/** The variable of the checker, by the name of the function: the logical ids of the function and of its version. */
const checkedVersions = (template: Template): Readonly<Record<string, readonly string[]>> => {
  const { VERSIONS } = variablesOf(template);
  const text = VERSIONS['Fn::Join'][1]
    .map((part: { Ref?: string; 'Fn::GetAtt'?: string[] } | string) =>
      typeof part === 'string' ? part : (part.Ref ?? part['Fn::GetAtt']?.join('.')),
    )
    .join('');
  return Object.fromEntries(
    Object.entries<string>(JSON.parse(text)).map(([name, version]) => [name, version.split(':')]),
  );
};

describe('every function is served by its alias', () => {
  test.each(SERVED)(
    '%s: API Gateway invokes the alias of its new version, and nothing may invoke the function itself',
    (name) => {
      const alias = only(idsOf(prod, 'AWS::Lambda::Alias', `${idOf(name)}Live`));
      const version = only(idsOf(prod, 'AWS::Lambda::Version', `${idOf(name)}Function`));
      expect(resourcesOf(prod, 'AWS::Lambda::Alias')[alias]?.Properties).toMatchObject({
        Name: 'live',
        FunctionVersion: { 'Fn::GetAtt': [version, 'Version'] },
      });
      const permissions = Object.values(resourcesOf(prod, 'AWS::Lambda::Permission')).map(
        ({ Properties }) => Properties,
      );
      expect(permissions.filter(({ FunctionName }) => FunctionName.Ref === alias)).toHaveLength(1);
      expect(permissions.filter(({ FunctionName }) => FunctionName.Ref === undefined)).toEqual([]);
    },
  );

  test('the methods and the authorizer invoke aliases', () => {
    const invoked = [
      ...Object.values(resourcesOf(prod, 'AWS::ApiGateway::Method')).map(
        ({ Properties }) => Properties.Integration.Uri,
      ),
      ...Object.values(resourcesOf(prod, 'AWS::ApiGateway::Authorizer')).map(
        ({ Properties }) => Properties.AuthorizerUri,
      ),
    ];
    const aliases = idsOf(prod, 'AWS::Lambda::Alias');
    const of = (uri: unknown) => aliases.filter((id) => JSON.stringify(uri).includes(`{"Ref":"${id}"}`));
    expect(new Set(invoked.flatMap(of))).toEqual(new Set(aliases.filter((id) => !id.startsWith('canary'))));
    expect(invoked.filter((uri) => of(uri).length !== 1)).toEqual([]);
  });

  test('API Gateway may invoke each without a word about the stage, before the deployment that needs it', () => {
    const [deployment] = Object.values(resourcesOf(prod, 'AWS::ApiGateway::Deployment'));
    const permissions = Object.entries(resourcesOf(prod, 'AWS::Lambda::Permission')).filter(
      ([, { Properties }]) => Properties.Principal === 'apigateway.amazonaws.com',
    );
    expect(permissions).toHaveLength(SERVED.length);
    for (const [id, { Properties }] of permissions) {
      expect(JSON.stringify(Properties.SourceArn)).not.toContain('Stage');
      expect(deployment?.DependsOn).toContain(id);
    }
  });

  test('a version stays when the template no longer has it, except one of a deploy that failed, which could not be repeated', () => {
    const policies = Object.values(resourcesOf(prod, 'AWS::Lambda::Version')).map(
      ({ DeletionPolicy }) => DeletionPolicy,
    );
    expect(new Set(policies)).toEqual(new Set(['RetainExceptOnCreate']));
  });
});

describe('the check before traffic', () => {
  test('moves no alias of a function of the API before it has passed', () => {
    const aliases = Object.entries(resourcesOf(prod, 'AWS::Lambda::Alias')).filter(
      ([id]) => !id.startsWith('canary'),
    );
    expect(aliases).toHaveLength(SERVED.length);
    for (const [, { DependsOn }] of aliases) expect(DependsOn).toContain(trigger);
  });

  test.each([
    ['prod', prod, 'api-key'],
    ['a stage with public codes', publicCodes.api, 'public'],
  ] as const)(
    'checks the new version of every function of %s but the canary and itself',
    (_, template, otpAccess) => {
      const served = allFunctions.filter((row) => isServed(row, otpAccess)).map(({ name }) => name);
      const versions = checkedVersions(template);
      expect(Object.keys(versions).sort()).toEqual(served.sort());
      for (const [name, [lambda, version]] of Object.entries(versions)) {
        expect(lambda).toBe(only(idsOf(template, 'AWS::Lambda::Function', `${idOf(name)}Function`)));
        expect(version).toBe(
          `${only(idsOf(template, 'AWS::Lambda::Version', `${idOf(name)}Function`))}.Version`,
        );
      }
    },
  );

  test('is told the prefix and the callers of the stage, the alias of the authorizer that API Gateway invokes, and the secret of the canary if there is one', () => {
    const told = [prod, publicCodes.api, templatesOf('dev').api].map((template) => {
      const { VERSIONS: _, ...others } = variablesOf(template);
      const [secret] = idsOf(template, 'AWS::SecretsManager::Secret');
      const [authorizer] = idsOf(template, 'AWS::Lambda::Function', 'authorizer');
      return JSON.parse(
        JSON.stringify(others)
          .replace(`{"Ref":"${secret}"}`, '"the secret"')
          .replace(`{"Fn::Join":["",[{"Ref":"${authorizer}"},":live"]]}`, '"the alias"'),
      );
    });
    const ofProd = { KEY_PREFIX: 'blk_live_', AUTHORIZER_IN_SERVICE: 'the alias', CANARY_KEY: 'the secret' };
    expect(told).toEqual([
      { ...ofProd, OTP_ACCESS: 'api-key' },
      { ...ofProd, OTP_ACCESS: 'public' },
      { KEY_PREFIX: 'blk_test_', AUTHORIZER_IN_SERVICE: 'the alias', OTP_ACCESS: 'api-key' },
    ]);
  });

  test('has time for four minutes of attempts and the longest time limit of a version, and the trigger waits longer than it runs', () => {
    const longest = Math.max(...allFunctions.map(({ timeoutSeconds }) => timeoutSeconds));
    const checker = only(idsOf(prod, 'AWS::Lambda::Function', 'deploycheck'));
    const { Timeout } = resourcesOf(prod, 'AWS::Lambda::Function')[checker]?.Properties ?? {};
    const triggerMs = Number(resourcesOf(prod, 'Custom::Trigger')[String(trigger)]?.Properties.Timeout);
    expect([Timeout, triggerMs]).toEqual([300, 330_000]);
    expect(Timeout * 1000).toBeGreaterThan(TIME_MS + longest * 1000);
  });

  test('runs alone where functions are reserved, so that it runs during a flood too', () => {
    const concurrencyOf = (template: Template) =>
      resourcesOf(template, 'AWS::Lambda::Function')[
        only(idsOf(template, 'AWS::Lambda::Function', 'deploycheck'))
      ]?.Properties.ReservedConcurrentExecutions;
    expect([concurrencyOf(prod), concurrencyOf(templatesOf('dev').api)]).toEqual([1, undefined]);
  });

  test('runs again when any function gets a new version, and when none does not', () => {
    const handlerOf = (template: Template): unknown =>
      Object.values(resourcesOf(template, 'Custom::Trigger'))[0]?.Properties.HandlerArn;
    const unchanged = handlerOf(templatesOf('dev').api);
    expect(handlerOf(Template.fromJSON(synthesize(stageConfig('dev')).api))).toEqual(unchanged);
    // In the environment of the functions that sign and publish.
    const { api } = templatesOf('dev', { signingKeys: ['k1', 'k2'] });
    expect(handlerOf(api)).not.toEqual(unchanged);
  });

  test('may invoke versions of these functions, read the key of the canary, and nothing else', () => {
    const role = only(idsOf(prod, 'AWS::IAM::Role', 'deploycheckRole'));
    const { Policies } = resourcesOf(prod, 'AWS::IAM::Role')[role]?.Properties ?? {};
    const [logs, invoke, read, ...others] = Policies[0].PolicyDocument.Statement;
    expect(others).toEqual([]);
    const [secret] = idsOf(prod, 'AWS::SecretsManager::Secret');
    expect(read).toMatchObject({ Action: 'secretsmanager:GetSecretValue', Resource: { Ref: secret } });
    expect(logs.Action).toEqual(['logs:CreateLogStream', 'logs:PutLogEvents']);
    expect(invoke.Action).toBe('lambda:InvokeFunction');
    const functions = SERVED.map((name) =>
      only(idsOf(prod, 'AWS::Lambda::Function', `${idOf(name)}Function`)),
    );
    const anyVersionOf = (id: string) => ({ 'Fn::Join': ['', [{ 'Fn::GetAtt': [id, 'Arn'] }, ':*']] });
    expect(invoke.Resource).toHaveLength(functions.length);
    expect(invoke.Resource).toEqual(expect.arrayContaining(functions.map(anyVersionOf)));
  });
});
