import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import {
  CreateSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { connectAws } from '#bin/admin/connect-aws.ts';
import { apiStackName, OUTPUTS } from '#lib/outputs.ts';
import { STAGES } from '#lib/stages.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import type { Target } from '#test/scenarios/target.ts';
import { seedDemo } from '../../local/demo-seeds.ts';
import { startSimulators } from '../../local/simulators/server.ts';

export interface DeployedTarget extends Target {
  close(): Promise<void>;
}

/** Creates or overwrites a secret. */
const writeSecret = async (name: string, text: string): Promise<void> => {
  const client = new SecretsManagerClient({});
  try {
    await client.send(new CreateSecretCommand({ Name: name, SecretString: text }));
  } catch {
    await client.send(new PutSecretValueCommand({ SecretId: name, SecretString: text }));
  } finally {
    client.destroy();
  }
};

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

/**
 * Returns the deployed stage with sellers and keys that the operations of the admin CLI create. On an emulator the functions run on
 * this machine and call the simulators; on AWS they call the configured providers.
 */
export const deployedTarget = async (stage: keyof typeof STAGES): Promise<DeployedTarget> => {
  const isEmulator = process.env.AWS_ENDPOINT_URL !== undefined;
  const simulators = await startSimulators();
  if (isEmulator)
    await writeSecret(STAGES[stage].providers.secretName, JSON.stringify(simulators.providerSecret));
  const [connection, outputs] = await Promise.all([connectAws(stage, {}), outputsOf(stage)]);
  const { seller_id, keys, other_seller } = await seedDemo(undefined, {
    admin: connection.admin,
    secrets: keySecretStore(connection.admin.table),
    isInPlan: () => true,
  });
  return {
    baseUrl: urlOf(outputs),
    issuer: String(outputs[OUTPUTS.baseUrl]),
    sellerId: seller_id,
    keys,
    otherSeller: other_seller,
    messages: async (phone) => simulators.messages(phone),
    async close() {
      connection.close();
      await simulators.close();
    },
  };
};
