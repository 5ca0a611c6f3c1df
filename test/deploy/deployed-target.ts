import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { deployments } from '#bin/deployments.ts';
import { apiStackName, OUTPUTS } from '#lib/outputs.ts';
import { STAGES } from '#lib/stages.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { Feature, Target } from '#test/scenarios/target.ts';
import { seedDemo } from '../../local/demo-seeds.ts';

export interface DeployedTarget extends Target {
  close(): Promise<void>;
}

const outputsOf = async (stage: string): Promise<Readonly<Record<string, string>>> => {
  const client = new CloudFormationClient({});
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: apiStackName(stage) }));
  client.destroy();
  return Object.fromEntries(
    (Stacks?.[0]?.Outputs ?? []).map(({ OutputKey, OutputValue }) => [OutputKey, OutputValue]),
  );
};

/** Returns the URL of the API. Emulators serve it under a path, which is the same for MiniStack and LocalStack. */
const urlOf = (outputs: Readonly<Record<string, string>>): string => {
  const emulator = process.env.AWS_ENDPOINT_URL;
  return emulator === undefined
    ? String(outputs[OUTPUTS.baseUrl])
    : `${emulator}/_aws/execute-api/${outputs[OUTPUTS.apiId]}/${outputs[OUTPUTS.stageName]}`;
};

/** Returns the URL at which a deployed stage is called. */
export const deployedUrl = async (stage: keyof typeof STAGES): Promise<string> =>
  urlOf(await outputsOf(stage));

/** Returns the features that a stage lacks because of its providers: only the sandbox can be called without real people. */
export const lacksOf = (stage: keyof typeof STAGES): readonly Feature[] =>
  isSandbox(STAGES[stage].providers.sms) ? [] : ['sandbox'];

/** Returns the deployed stage with sellers and keys that the operations of the admin CLI create. */
export const deployedTarget = async (stage: keyof typeof STAGES): Promise<DeployedTarget> => {
  const [{ admin }, outputs] = await Promise.all([deployments.connect({ stage }), outputsOf(stage)]);
  const { seller_id, keys, other_seller } = await seedDemo(undefined, admin);
  return {
    baseUrl: urlOf(outputs),
    issuer: String(outputs[OUTPUTS.baseUrl]),
    sellerId: seller_id,
    keys,
    otherSeller: other_seller,
    close: async () => {},
  };
};
