import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { apiStackName, dataStackName } from '#lib/outputs.ts';
import type { STAGES } from '#lib/stages.ts';

/** The stage that the test deploys, with its config of lib/stages.ts. */
export const STAGE = 'dev' satisfies keyof typeof STAGES;

const exists = async (client: CloudFormationClient, StackName: string): Promise<boolean> => {
  try {
    await client.send(new DescribeStacksCommand({ StackName }));
    return true;
  } catch (error) {
    // CloudFormation reports this as a ValidationError.
    if (error instanceof Error && error.message.includes('does not exist')) return false;
    throw error;
  }
};

/** Rejects if the stage is already deployed, because the test deletes the stage at its end. */
export const assertNotDeployed = async (): Promise<void> => {
  const client = new CloudFormationClient({});
  for (const name of [apiStackName(STAGE), dataStackName(STAGE)]) {
    if (await exists(client, name)) throw new Error(`The stack ${name} already exists. Nothing was changed.`);
  }
  client.destroy();
};
