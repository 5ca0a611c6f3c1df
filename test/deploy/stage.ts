import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { apiStackName, dataStackName } from '#lib/outputs.ts';
import type { STAGES } from '#lib/stages.ts';

/** The stage that is deployed, with its config as it is. */
export const STAGE = 'dev' satisfies keyof typeof STAGES;

const isThere = async (client: CloudFormationClient, StackName: string): Promise<boolean> => {
  try {
    await client.send(new DescribeStacksCommand({ StackName }));
    return true;
  } catch (error) {
    // CloudFormation has no exception of its own for it.
    if (error instanceof Error && error.message.includes('does not exist')) return false;
    throw error;
  }
};

/** Rejects if the stage is deployed already: the test deletes what it deploys, and must not delete what somebody uses. */
export const assertNotDeployed = async (): Promise<void> => {
  const client = new CloudFormationClient({});
  for (const name of [apiStackName(STAGE), dataStackName(STAGE)]) {
    if (await isThere(client, name))
      throw new Error(`The stack ${name} is there already; nothing was touched.`);
  }
  client.destroy();
};
