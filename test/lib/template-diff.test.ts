import type { Template } from 'aws-cdk-lib/assertions';
import { allRoutes } from '#shared/routes.ts';
import { templatesOf } from './synthesized.ts';

const OPERATIONS = allRoutes.length + 1;

const countsOf = ({ api, data }: { api: Template; data: Template }): Map<string, number> => {
  const resources = [api, data].flatMap((template) => Object.values(template.toJSON().Resources ?? {})) as {
    Type: string;
  }[];
  return new Map([...Map.groupBy(resources, ({ Type }) => Type)].map(([type, all]) => [type, all.length]));
};

/** Returns the types of which prod has more resources than dev, or fewer, with the difference. */
const differences = (): Record<string, number> => {
  const [dev, prod] = [countsOf(templatesOf('dev')), countsOf(templatesOf('prod'))];
  const types = [...new Set([...dev.keys(), ...prod.keys()])].sort();
  return Object.fromEntries(
    types
      .map((type) => [type, (prod.get(type) ?? 0) - (dev.get(type) ?? 0)] as const)
      .filter(([, difference]) => difference !== 0),
  );
};

/** What each option of prod adds to dev. stages.test.ts checks that equal configs give equal templates. */
const BY_OPTION = {
  rollout: {
    'AWS::CodeDeploy::Application': 1,
    'AWS::CodeDeploy::DeploymentGroup': OPERATIONS,
    'AWS::Lambda::Alias': OPERATIONS,
    'AWS::Lambda::Version': OPERATIONS,
    'AWS::CloudWatch::Alarm': OPERATIONS,
    'AWS::IAM::Role': 1,
  },
  staticEgress: {
    'AWS::CloudWatch::Alarm': 1,
    'AWS::EC2::EIP': 1,
    'AWS::EC2::FlowLog': 1,
    'AWS::EC2::InternetGateway': 1,
    'AWS::EC2::NatGateway': 1,
    'AWS::EC2::Route': 4,
    'AWS::EC2::RouteTable': 4,
    'AWS::EC2::SecurityGroup': 1,
    'AWS::EC2::Subnet': 4,
    'AWS::EC2::SubnetRouteTableAssociation': 4,
    'AWS::EC2::VPC': 1,
    'AWS::EC2::VPCEndpoint': 1,
    'AWS::EC2::VPCGatewayAttachment': 1,
    'AWS::IAM::Policy': 1,
    'AWS::IAM::Role': 1,
    'AWS::Logs::LogGroup': 1,
  },
  firewall: {
    'AWS::CloudWatch::Alarm': 1,
    'AWS::WAFv2::WebACL': 1,
    'AWS::WAFv2::WebACLAssociation': 1,
  },
  reservedConcurrency: { 'AWS::CloudWatch::Alarm': 4 },
  completionWatch: { 'AWS::CloudWatch::Alarm': 2 },
  // Three alarms for each of four providers in prod, and for the one provider `sandbox` in dev.
  providers: { 'AWS::CloudWatch::Alarm': 9 },
} as const;

describe('the templates of prod', () => {
  test('have exactly those resources more than dev that the options of lib/stages.ts name', () => {
    const expected: Record<string, number> = {};
    for (const added of Object.values(BY_OPTION)) {
      for (const [type, count] of Object.entries(added)) expected[type] = (expected[type] ?? 0) + count;
    }
    expect(differences()).toEqual(expected);
  });
});
