import type { Template } from 'aws-cdk-lib/assertions';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { methodOf } from './methods.ts';
import { COMPLETE, resourcesOf, templatesOf } from './synthesized.ts';

const prod = templatesOf('prod', COMPLETE).api;
const dev = templatesOf('dev').api;

const IN_STEPS = ['authorizer', 'create-user', 'list-users', 'send-otp', 'verify-otp'];

/** Returns the resource of a type of one operation, with its logical id. */
const ofOperation = (template: Template, type: string, operation: string, part = '') => {
  const found = Object.entries(resourcesOf(template, type)).filter(
    ([id]) =>
      new RegExp(`^${operation.replaceAll('-', '')}(?:Function|Live|Rollout|Alarm)`).test(id) &&
      id.includes(part),
  );
  expect(found).toHaveLength(1);
  const [id = '', resource] = found[0] ?? [];
  return { id, resource, properties: resource?.Properties };
};

const aliasOf = (operation: string) => ofOperation(prod, 'AWS::Lambda::Alias', operation);
const versionOf = (operation: string) => ofOperation(prod, 'AWS::Lambda::Version', operation);
const alarmOf = (operation: string) => ofOperation(prod, 'AWS::CloudWatch::Alarm', operation, 'RolloutAlarm');
const groupOf = (operation: string) => ofOperation(prod, 'AWS::CodeDeploy::DeploymentGroup', operation);

describe('a stage with a gradual rollout', () => {
  itForAll(IN_STEPS)('has an alias and a deployment group for each of these functions', (operation) => {
    const { resource: alias } = aliasOf(operation);
    const group = groupOf(operation);
    expect(alias?.Properties).toMatchObject({
      Name: 'live',
      FunctionVersion: { 'Fn::GetAtt': [versionOf(operation).id, 'Version'] },
    });
    expect(alias).toMatchObject({
      UpdatePolicy: { CodeDeployLambdaAliasUpdate: { DeploymentGroupName: { Ref: group.id } } },
    });
    expect(group.properties).toMatchObject({
      DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
      AlarmConfiguration: { Enabled: true, Alarms: [{ Name: { Ref: alarmOf(operation).id } }] },
      AutoRollbackConfiguration: {
        Enabled: true,
        Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
      },
    });
  });

  itForAll(IN_STEPS)(
    'rolls each of them back by an alarm of its version, which notifies nobody',
    (operation) => {
      const { properties } = alarmOf(operation);
      const version = { 'Fn::GetAtt': [versionOf(operation).id, 'Version'] };
      expect(properties).toMatchObject({
        // Not the prefix of the stage, whose alarms notify people when they end.
        AlarmName: { 'Fn::Join': ['', [`buyer-linking-rollout-prod-${operation}-`, version]] },
        ComparisonOperator: 'GreaterThanOrEqualToThreshold',
        Threshold: 1,
        DatapointsToAlarm: operation === 'authorizer' ? 2 : 1,
        EvaluationPeriods: 5,
        TreatMissingData: 'notBreaching',
      });
      expect(properties.AlarmActions).toBeUndefined();
      const metrics: {
        Expression?: string;
        MetricStat?: { Metric: { MetricName: string }; Period: number; Stat: string };
      }[] = properties.Metrics;
      // The authorizer throws to refuse a request: these are errors while keys are checked.
      expect(metrics.flatMap(({ Expression }) => Expression ?? [])).toEqual([
        operation === 'authorizer'
          ? 'internal + IF(errors >= 5 AND checked == 0, errors, 0)'
          : 'internal + errors',
      ]);
      const measured = metrics.flatMap(({ MetricStat }) => MetricStat ?? []);
      expect(measured.map(({ Period, Stat }) => [Period, Stat])).toEqual(measured.map(() => [60, 'Sum']));
      const { Ref } =
        resourcesOf(prod, 'AWS::Lambda::Version')[versionOf(operation).id]?.Properties.FunctionName ?? {};
      expect(measured.map(({ Metric }) => Metric)).toMatchObject([
        {
          MetricName: 'UnexpectedErrors',
          Dimensions: [
            { Name: 'operation', Value: operation },
            { Name: 'version', Value: version },
          ],
        },
        {
          MetricName: 'Errors',
          Dimensions: [
            { Name: 'ExecutedVersion', Value: version },
            { Name: 'FunctionName', Value: { Ref } },
            { Name: 'Resource', Value: { 'Fn::Join': ['', [{ Ref }, ':live']] } },
          ],
        },
        ...(operation === 'authorizer'
          ? [{ MetricName: 'KeysChecked', Dimensions: [{ Name: 'version', Value: version }] }]
          : []),
      ]);
    },
  );

  test('lets API Gateway invoke the aliases of these functions, and the other functions themselves', () => {
    const functions = Object.keys(resourcesOf(prod, 'AWS::Lambda::Function'));
    const invoked = (name: string) => {
      if (IN_STEPS.includes(name)) return aliasOf(name).id;
      return functions.find((id) => id.startsWith(`${name.replaceAll('-', '')}Function`)) ?? '';
    };
    for (const route of allRoutes) {
      expect(JSON.stringify(methodOf(prod, route).integration)).toContain(`"${invoked(route.name)}"`);
    }
    const [authorizer] = Object.values(resourcesOf(prod, 'AWS::ApiGateway::Authorizer'));
    expect(JSON.stringify(authorizer?.Properties.AuthorizerUri)).toContain(`"${invoked('authorizer')}"`);
    const allowed = Object.values(resourcesOf(prod, 'AWS::Lambda::Permission'))
      .filter(({ Properties }) => Properties.Principal === 'apigateway.amazonaws.com')
      .map(({ Properties: { FunctionName } }) => FunctionName.Ref ?? FunctionName['Fn::GetAtt'][0]);
    // A page is invoked by GET and by HEAD.
    const expected = [...allRoutes.map(({ name }) => name), 'authorizer'].map(invoked);
    expect([...new Set(allowed)].sort()).toEqual(expected.sort());
  });

  test('deploys the API after the alias of the authorizer and the permission to invoke it', () => {
    const [deployment] = Object.values(resourcesOf(prod, 'AWS::ApiGateway::Deployment'));
    const [permission] = Object.entries(resourcesOf(prod, 'AWS::Lambda::Permission')).filter(
      ([, { Properties }]) => Properties.FunctionName.Ref === aliasOf('authorizer').id,
    );
    expect(deployment?.DependsOn).toEqual(
      expect.arrayContaining([aliasOf('authorizer').id, permission?.[0]]),
    );
  });

  test('lets CodeDeploy change the aliases and read alarms, and nothing else', () => {
    const [role] = Object.entries(resourcesOf(prod, 'AWS::IAM::Role')).filter(([id]) =>
      id.startsWith('RolloutRole'),
    );
    const statements: { Action: string | string[]; Resource: unknown }[] =
      role?.[1].Properties.Policies[0].PolicyDocument.Statement;
    expect(role?.[1].Properties.ManagedPolicyArns).toBeUndefined();
    expect(statements).toMatchObject([
      { Action: 'cloudwatch:DescribeAlarms', Resource: '*' },
      { Action: ['lambda:GetAlias', 'lambda:GetProvisionedConcurrencyConfig', 'lambda:UpdateAlias'] },
    ]);
    expect(statements[1]?.Resource).toHaveLength(2 * IN_STEPS.length);
  });

  test('keeps the versions that the template no longer has, except one of a deploy that failed', () => {
    const versions = Object.values(resourcesOf(prod, 'AWS::Lambda::Version'));
    expect(new Set(versions.map(({ DeletionPolicy }) => DeletionPolicy))).toEqual(
      new Set(['RetainExceptOnCreate']),
    );
  });

  test('has neither alias, version, deployment group nor alarm for any other function', () => {
    for (const type of ['Lambda::Alias', 'Lambda::Version', 'CodeDeploy::DeploymentGroup']) {
      expect(Object.keys(resourcesOf(prod, `AWS::${type}`))).toHaveLength(IN_STEPS.length);
    }
    const alarms = Object.keys(resourcesOf(prod, 'AWS::CloudWatch::Alarm'));
    expect(alarms.filter((id) => id.includes('RolloutAlarm'))).toHaveLength(IN_STEPS.length);
  });

  test('leaves the aliases to CloudFormation in a direct deploy, and changes nothing else', () => {
    const { Resources, ...rest } = templatesOf('prod', { ...COMPLETE, rollout: 'direct' }).api.toJSON();
    const gradual = structuredClone(prod.toJSON());
    const aliases = Object.values<{ Type: string; UpdatePolicy?: object }>(gradual.Resources).filter(
      ({ Type }) => Type === 'AWS::Lambda::Alias',
    );
    expect(aliases).toHaveLength(IN_STEPS.length);
    for (const alias of aliases) delete alias.UpdatePolicy;
    expect({ Resources, ...rest }).toEqual(gradual);
  });
});

test('a stage whose functions are deployed at once has no alias, no version and no CodeDeploy', () => {
  const text = JSON.stringify(dev.toJSON());
  expect(text).toContain('AWS::Lambda::Function');
  expect(text).not.toMatch(/AWS::Lambda::(?:Alias|Version)|CodeDeploy|rollout-failing/);
});
