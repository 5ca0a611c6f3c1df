import { describe, expect, test } from '@jest/globals';
import { allRoutes, routes } from '#shared/routes.ts';
import { resourcesOf, templatesOf } from './synthesised.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Effect: string;
  readonly Condition?: unknown;
}

const { api, data } = templatesOf('prod', { alarms: { email: 'on-call@example.com' } });

const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

const statementsOf = (roleIdPart: string): Statement[] =>
  Object.entries(resourcesOf(api, 'AWS::IAM::Role'))
    .filter(([id]) => id.startsWith(roleIdPart))
    .flatMap(([, { Properties }]) => Properties.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

const everyStatement = statementsOf('');

const actionsOf = (name: string): string[] =>
  statementsOf(`${name.replaceAll('-', '')}Role`)
    .flatMap(({ Action }) => listOf(Action))
    .sort();

/** Actions that AWS lets be granted on `*` alone. */
const WITHOUT_RESOURCE =
  /^(?:xray:Put(?:TraceSegments|TelemetryRecords)|ec2:\w+(?:NetworkInterface|Subnet|PrivateIpAddresse)s?)$/;

const EVERYWHERE = [
  'logs:CreateLogStream',
  'logs:PutLogEvents',
  'xray:PutTelemetryRecords',
  'xray:PutTraceSegments',
];

describe('least privilege', () => {
  test('the test sees the policies of every function', () => {
    expect(everyStatement.length).toBeGreaterThan(allRoutes.length * 3);
  });

  test('no action is a wildcard', () => {
    expect(
      everyStatement.flatMap(({ Action }) => listOf(Action)).filter((action) => action.includes('*')),
    ).toEqual([]);
  });

  test('no resource is "*" but for traces and network interfaces, which have no other', () => {
    const onEverything = everyStatement.filter(({ Resource }) => listOf(Resource).includes('*'));
    const actions = onEverything.flatMap(({ Action }) => listOf(Action));
    expect(actions.filter((action) => !WITHOUT_RESOURCE.test(action))).toEqual([]);
  });

  test('no function has a managed policy or a policy outside its own role', () => {
    const added = Object.keys(resourcesOf(api, 'AWS::IAM::Policy'));
    expect(added).toEqual([expect.stringMatching(/^EgressVpc/)]);
    const roles = Object.entries(resourcesOf(api, 'AWS::IAM::Role')).filter(([id]) => id.includes('Role'));
    const managed = roles.filter(([, { Properties }]) => Properties.ManagedPolicyArns !== undefined);
    expect(managed.map(([id]) => id)).toEqual([expect.stringMatching(/^ApiCloudWatchRole/)]);
  });

  test.each(
    allRoutes.filter(({ permissions }) => permissions.table).map((route) => [route.name, route] as const),
  )('%s may do with the table what its row says, and nothing else', (name, { permissions }) => {
    const onTable = actionsOf(name).filter((action) => action.startsWith('dynamodb:'));
    expect(onTable).toEqual((permissions.table ?? []).map((verb) => `dynamodb:${verb}`).sort());
  });

  test('a row without needs may write its log and its trace, and nothing else', () => {
    expect(actionsOf('get-openapi')).toEqual(EVERYWHERE);
  });

  test('get-jwks may read public keys, and sign nothing', () => {
    expect(routes['get-jwks'].permissions).toEqual({ signingKey: 'publish' });
    expect(actionsOf('get-jwks')).toEqual(['kms:GetPublicKey', ...EVERYWHERE].sort());
  });

  test('only verify-otp may sign', () => {
    const signers = allRoutes.filter(({ name }) => actionsOf(name).includes('kms:Sign'));
    expect(signers.map(({ name }) => name)).toEqual(['verify-otp']);
  });

  test('a function that needs no secret can read none', () => {
    const readers = allRoutes.filter(({ name }) => actionsOf(name).includes('secretsmanager:GetSecretValue'));
    expect(readers.map(({ name }) => name)).toEqual(['create-user', 'send-otp', 'verify-otp']);
  });

  test('the authorizer reads the records of secrets alone, and cannot write what it judges by', () => {
    const own = statementsOf('authorizerRole').filter(({ Action }) => String(Action).startsWith('dynamodb:'));
    const onlySecrets = { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['SECRET#*'] } };
    expect(own.map(({ Action, Condition }) => ({ Action, Condition }))).toEqual([
      { Action: 'dynamodb:GetItem', Condition: onlySecrets },
      {
        Action: 'dynamodb:UpdateItem',
        Condition: {
          ...onlySecrets,
          'ForAllValues:StringEquals': { 'dynamodb:Attributes': ['pk', 'sk', 'last_used_day'] },
          StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
        },
      },
    ]);
    const others = actionsOf('authorizer').filter((action) => !action.startsWith('dynamodb:'));
    expect(others).toEqual(EVERYWHERE);
  });

  test('no provider credential and no other secret text stands in a template', () => {
    const text = JSON.stringify([api.toJSON(), data.toJSON()]);
    expect(text).not.toMatch(/SecretString"\s*:\s*"[^{]/);
    const [secret] = Object.values(resourcesOf(data, 'AWS::SecretsManager::Secret'));
    expect(secret?.Properties.GenerateSecretString).toMatchObject({
      SecretStringTemplate: '{}',
      GenerateStringKey: 'current',
      PasswordLength: 64,
    });
    expect(secret?.Properties.SecretString).toBeUndefined();
  });
});
