import { Names } from 'aws-cdk-lib';
import type { Template } from 'aws-cdk-lib/assertions';
import { STAGES, type Stage, type StageName } from '#lib/stages.ts';
import { allRoutes } from '#shared/routes.ts';
import { COMPLETE, stageApp, stageConfig, templatesOf } from './synthesized.ts';

const OPERATIONS = allRoutes.length + 1;

const countsOf = ({ api, data }: { api: Template; data: Template }): Map<string, number> => {
  const resources = [api, data].flatMap((template) => Object.values(template.toJSON().Resources ?? {})) as {
    Type: string;
  }[];
  return new Map([...Map.groupBy(resources, ({ Type }) => Type)].map(([type, all]) => [type, all.length]));
};

/** Returns the types of which prod has more resources than dev, or fewer, with the difference. */
const differences = (): Record<string, number> => {
  const [dev, prod] = [countsOf(templatesOf('dev')), countsOf(templatesOf('prod', COMPLETE))];
  const types = [...new Set([...dev.keys(), ...prod.keys()])].sort();
  return Object.fromEntries(
    types
      .map((type) => [type, (prod.get(type) ?? 0) - (dev.get(type) ?? 0)] as const)
      .filter(([, difference]) => difference !== 0),
  );
};

/** What each setting of prod adds to dev. Without `alarms` a stage has no alarm but those of its rollouts. */
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
  reservedConcurrency: { 'AWS::CloudWatch::Alarm': 7 },
  alarms: {
    'AWS::CloudWatch::Alarm': 15,
    'AWS::CloudWatch::Dashboard': 1,
    'AWS::Events::Rule': 1,
    'AWS::SNS::Subscription': 1,
    'AWS::SNS::Topic': 1,
    'AWS::SNS::TopicPolicy': 1,
  },
  spend: { 'AWS::CloudWatch::Alarm': 2 },
  budget: { 'AWS::Budgets::Budget': 1 },
  // One alarm for each of four providers, and one on redeemed codes for each of two.
  providers: { 'AWS::CloudWatch::Alarm': 6 },
} as const;

/** Returns the lines of both templates of a stage, without the stage's name, its prefix of keys and the hashes that CDK derives from it. */
const linesOf = (stage: StageName, changes: Partial<Stage>): string[] => {
  const { app } = stageApp(stageConfig(stage, changes));
  const { api, data } = templatesOf(stage, changes);
  const templates = [data, api].map((template) => template.toJSON());
  // A hash is the end of an id. Ids are parts of other names, where digits before a hash cannot be told from it.
  const ids = [
    ...app.node.findAll().map(({ node }) => Names.nodeUniqueId(node)),
    ...templates.flatMap(({ Resources, Outputs }) => Object.keys({ ...Resources, ...Outputs })),
  ];
  const hashes = ids.flatMap((id) => /[0-9A-F]{8}(?:[0-9a-f]{32})?$/.exec(id) ?? []);
  return JSON.stringify(templates, null, 1)
    .replaceAll(new RegExp(hashes.join('|'), 'g'), '(hash)')
    .replaceAll(/dev|prod/g, '(stage)')
    .replaceAll(/blk_(?:test|live)_/g, '(prefix)')
    .split('\n');
};

describe('the templates of dev and prod', () => {
  test('are identical if their settings are identical', () => {
    expect(linesOf('dev', { ...STAGES.prod, ...COMPLETE })).toEqual(linesOf('prod', COMPLETE));
  });

  test('are for the account and Region of the settings, and look nothing up for them', () => {
    // With a network, whose zones CDK would look up.
    const pinned = { account: '123456789012', region: 'eu-central-1', staticEgress: 'one-zone' } as const;
    const { manifest } = stageApp(stageConfig('dev', pinned)).app.synth();
    expect(manifest.missing).toBeUndefined();
    const environments = Object.values(manifest.artifacts ?? {}).flatMap(
      ({ environment }) => environment ?? [],
    );
    expect(new Set(environments)).toEqual(new Set(['aws://123456789012/eu-central-1']));
  });
});

describe('the templates of prod', () => {
  test('have exactly those resources more than dev that the settings of lib/stages.ts name', () => {
    const expected: Record<string, number> = {};
    for (const added of Object.values(BY_OPTION)) {
      for (const [type, count] of Object.entries(added)) expected[type] = (expected[type] ?? 0) + count;
    }
    expect(differences()).toEqual(expected);
  });
});
