import { CloudFormationClient, paginateListStackResources } from '@aws-sdk/client-cloudformation';
import { GetAliasCommand, LambdaClient } from '@aws-sdk/client-lambda';

/** `arn:aws:lambda:<region>:<account>:function:<name>:<version or alias>` */
const functionIn = (arn: string): readonly [name: string, qualifier: string] => {
  const [, , , , , , name = '', qualifier = ''] = arn.split(':');
  return [name, qualifier];
};

/**
 * Returns each alias of a stack that serves another version than the one of the stack, as `<function>: <version> in place of <version>`. A
 * deploy moves an alias only to a new version, so one that a person moved stays there.
 */
export const movedAliases = async (stackName: string): Promise<readonly string[]> => {
  const ofType = { 'AWS::Lambda::Version': [] as string[], 'AWS::Lambda::Alias': [] as string[] };
  const pages = paginateListStackResources(
    { client: new CloudFormationClient({}) },
    { StackName: stackName },
  );
  for await (const { StackResourceSummaries = [] } of pages)
    for (const { ResourceType, PhysicalResourceId = '' } of StackResourceSummaries)
      ofType[ResourceType as keyof typeof ofType]?.push(PhysicalResourceId);
  const versions = new Map(ofType['AWS::Lambda::Version'].map(functionIn));
  const lambda = new LambdaClient({});
  const moved = ofType['AWS::Lambda::Alias'].map(async (arn) => {
    const [name, alias] = functionIn(arn);
    const { FunctionVersion } = await lambda.send(new GetAliasCommand({ FunctionName: name, Name: alias }));
    return FunctionVersion === versions.get(name)
      ? []
      : [`${name}: ${FunctionVersion} in place of ${versions.get(name)}`];
  });
  return (await Promise.all(moved)).flat();
};
