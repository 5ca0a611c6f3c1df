import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import type { Connection } from '#admin/cli/connection.ts';
import { deployments } from '#bin/deployments.ts';
import { apiStackName, OUTPUTS } from '#lib/outputs.ts';
import { STAGES } from '#lib/stages.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import type { Feature, SentCode, Target } from '#test/scenarios/target.ts';
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

/**
 * Returns the features that a stage lacks because of its providers: only those of the sandbox can be called without real people, and no
 * provider shows its messages.
 */
export const lacksOf = (stage: keyof typeof STAGES): readonly Feature[] =>
  isSandbox(STAGES[stage].providers.sms)
    ? ['message texts']
    : ['sent messages', 'message texts', 'test identities'];

/**
 * Returns the messages to a phone, newest first. The sandbox sends nothing: these are the sends that the table holds for the sellers,
 * with the code that the sandbox documents.
 */
const sandboxMessages = async (
  { admin: { table }, hashes }: Connection,
  sellerIds: readonly string[],
  phone: string,
): Promise<SentCode[]> => {
  const [phoneHash] = await hashes.phone(phone);
  const read = (audience: string) => codeStore(table).read({ phoneHash, audience }, false);
  const states = await Promise.all(sellerIds.map(read));
  return states
    .flatMap(({ record }) => record.sends)
    .sort((one, other) => other - one)
    .map((at) => ({ phone, code: sandboxCode(phone), sent_at: new Date(at * 1000).toISOString() }));
};

/** Returns the deployed stage with sellers and keys that the operations of the admin CLI create. */
export const deployedTarget = async (stage: keyof typeof STAGES): Promise<DeployedTarget> => {
  const [connection, outputs] = await Promise.all([deployments.connect({ stage }), outputsOf(stage)]);
  const { admin } = connection;
  const { seller_id, keys, other_seller } = await seedDemo(undefined, {
    admin: async () => admin,
    sellers: admin.sellers,
    secrets: keySecretStore(admin.table),
    isInPlan: () => true,
  });
  return {
    baseUrl: urlOf(outputs),
    issuer: String(outputs[OUTPUTS.baseUrl]),
    sellerId: seller_id,
    keys,
    otherSeller: other_seller,
    messages: (phone) => sandboxMessages(connection, [seller_id, other_seller.seller_id], phone),
    async close() {
      connection.close();
    },
  };
};
