import type { Template } from 'aws-cdk-lib/assertions';
import { COMPLETE, EVERY_OPTION, templatesOf } from './synthesized.ts';

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>>;
}

const TEMPLATES: readonly (readonly [string, Template])[] = [
  ['dev', templatesOf('dev')] as const,
  ['prod', templatesOf('prod', COMPLETE)] as const,
  ['prod with every option', templatesOf('prod', EVERY_OPTION)] as const,
].flatMap(([name, { api, data }]) => [[`${name}, api`, api] as const, [`${name}, data`, data] as const]);

/** The names that the templates give to resources, each unique in one Region of an account only. */
const REGIONAL = [
  'AWS::ApiGateway::Authorizer Name',
  // Regional endpoints in two Regions may have one domain: DNS chooses.
  'AWS::ApiGateway::DomainName DomainName',
  'AWS::ApiGateway::RestApi Name',
  'AWS::ApiGateway::Stage StageName',
  'AWS::ApiGateway::UsagePlan UsagePlanName',
  'AWS::Backup::BackupVault BackupVaultName',
  'AWS::CloudWatch::Alarm AlarmName',
  'AWS::KMS::Alias AliasName',
  'AWS::Lambda::Alias Name',
  'AWS::Logs::QueryDefinition Name',
];

/** Names of something else: of a resource that is referred to, of AWS, or of a policy within its role. */
const REFERENCES = [
  'AWS::ApiGateway::BasePathMapping DomainName',
  'AWS::CloudWatch::Alarm MetricName',
  'AWS::EC2::VPCEndpoint ServiceName',
  'AWS::IAM::Policy PolicyName',
  'AWS::Lambda::Alias FunctionName',
  'AWS::Lambda::EventInvokeConfig FunctionName',
  'AWS::Lambda::Permission FunctionName',
  'AWS::Lambda::Version FunctionName',
];

/** The properties that name buckets, dashboards and what IAM has. */
const GLOBAL =
  /"(?:BucketName|DashboardName|GroupName|InstanceProfileName|ManagedPolicyName|RoleName|UserName)":/;

const namesOf = (template: Template): readonly string[] =>
  Object.values<Resource>(template.toJSON().Resources).flatMap(({ Type, Properties = {} }) =>
    Object.keys(Properties)
      .filter((property) => property.endsWith('Name') && !REFERENCES.includes(`${Type} ${property}`))
      .map((property) => `${Type} ${property}`),
  );

describe('a stage can be deployed in a second Region of its account', () => {
  test('the templates name these resources, whose names are of one Region, and no others', () => {
    const named = new Set(TEMPLATES.flatMap(([, template]) => namesOf(template)));
    expect([...named].sort()).toEqual(REGIONAL);
  });

  test.each(TEMPLATES)(
    'no property names a resource in all Regions of the account, or in all accounts: %s',
    (_, template) => {
      const text = JSON.stringify(template.toJSON().Resources);
      expect(text.match(GLOBAL)).toBeNull();
      expect(`{"BucketName":"prod"}`).toMatch(GLOBAL);
    },
  );
});
