import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateListStackResources,
} from '@aws-sdk/client-cloudformation';
import {
  type FunctionConfiguration,
  GetAliasCommand,
  type LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';
import { apiStackName } from '#lib/outputs.ts';

/** A function behind an alias. Versions are numbers that grow with each deploy that changes the function. */
export interface DeployedFunction {
  readonly functionName: string;
  readonly aliasName: string;
  /** Changes with each update of the alias. */
  readonly revisionId: string | undefined;
  /** What the function does: `POST /v1/users`. */
  readonly description: string;
  /** The version that the alias names. */
  readonly serving: number;
  /** The version of the stack, which the last deploy that changed the function published. */
  readonly deployed: number;
  readonly versions: ReadonlyMap<number, FunctionConfiguration>;
}

/** A deployed stage. */
export interface DeployedStage {
  readonly status: string;
  /** When the last deploy began. */
  readonly deployedAt: Date;
  readonly functions: readonly DeployedFunction[];
}

const stackOf = async (client: CloudFormationClient, StackName: string) => {
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName }));
  const { StackStatus = '', LastUpdatedTime, CreationTime = new Date(0) } = Stacks?.[0] ?? {};
  return { status: StackStatus, deployedAt: LastUpdatedTime ?? CreationTime };
};

/** Returns the ARNs of a stack's resources of a type, split at their colons. */
const arnsOf = async (client: CloudFormationClient, StackName: string) => {
  const arns = { 'AWS::Lambda::Alias': [] as string[][], 'AWS::Lambda::Version': [] as string[][] };
  for await (const page of paginateListStackResources({ client }, { StackName })) {
    for (const { ResourceType, PhysicalResourceId = '' } of page.StackResourceSummaries ?? []) {
      if (ResourceType === 'AWS::Lambda::Alias' || ResourceType === 'AWS::Lambda::Version') {
        arns[ResourceType].push(PhysicalResourceId.split(':'));
      }
    }
  }
  return { aliases: arns['AWS::Lambda::Alias'], versions: arns['AWS::Lambda::Version'] };
};

const versionsOf = async (client: LambdaClient, FunctionName: string) => {
  const versions = new Map<number, FunctionConfiguration>();
  for await (const { Versions = [] } of paginateListVersionsByFunction({ client }, { FunctionName })) {
    for (const version of Versions) {
      if (version.Version !== '$LATEST') versions.set(Number(version.Version), version);
    }
  }
  return versions;
};

/** Returns the functions of a stage that have an alias: none without a gradual rollout. */
export const deployedStage = async (stage: string, lambda: LambdaClient): Promise<DeployedStage> => {
  const client = new CloudFormationClient({});
  try {
    const name = apiStackName(stage);
    const [stack, { aliases, versions }] = await Promise.all([stackOf(client, name), arnsOf(client, name)]);
    // …:function:<name>:<alias or version>
    const deployed = new Map(versions.map((arn) => [arn.at(-2), Number(arn.at(-1))]));
    const functions = await Promise.all(
      aliases.map(async (arn): Promise<DeployedFunction> => {
        const [functionName = '', aliasName = ''] = arn.slice(-2);
        const [alias, published] = await Promise.all([
          lambda.send(new GetAliasCommand({ FunctionName: functionName, Name: aliasName })),
          versionsOf(lambda, functionName),
        ]);
        const serving = Number(alias.FunctionVersion);
        return {
          functionName,
          aliasName,
          revisionId: alias.RevisionId,
          description: published.get(serving)?.Description || functionName,
          serving,
          deployed: deployed.get(functionName) ?? serving,
          versions: published,
        };
      }),
    );
    return { ...stack, functions: functions.toSorted((a, b) => a.description.localeCompare(b.description)) };
  } finally {
    client.destroy();
  }
};
