import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import * as v from 'valibot';
import { administration } from '#admin/administration.ts';
import { refusal } from '#admin/operations/refusal.ts';
import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import { apiStackName, OUTPUTS, usagePlanOutput } from '#lib/outputs.ts';
import { KEY_PREFIXES } from '#shared/api-keys/format.ts';
import { systemClock } from '#shared/clock.ts';
import { randomIds } from '#shared/ids.ts';
import { PLAN_NAMES, planTable } from '#shared/rate-limits/plans.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { secretsManagerSecret } from '#shared/secrets/secrets-manager.ts';
import { type Connection, openAdminTable, type TargetOptions } from './connection.ts';

const outputsSchema = v.object({
  [OUTPUTS.apiId]: v.string(),
  [OUTPUTS.stageName]: v.string(),
  [OUTPUTS.tableName]: v.string(),
  [OUTPUTS.hashSecretArn]: v.string(),
  [OUTPUTS.keyPrefix]: v.picklist(KEY_PREFIXES),
  ...Object.fromEntries(PLAN_NAMES.map((plan) => [usagePlanOutput(plan), v.string()])),
});

/** Reads the outputs of a stage's API stack. */
const readOutputs = async (stage: string) => {
  const name = apiStackName(stage);
  const client = new CloudFormationClient({});
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: name }));
    const outputs = Object.fromEntries(
      (Stacks?.[0]?.Outputs ?? []).map(({ OutputKey = '', OutputValue }) => [OutputKey, OutputValue]),
    );
    const parsed = v.safeParse(outputsSchema, outputs);
    if (parsed.success) return parsed.output as Record<string, string> & v.InferOutput<typeof outputsSchema>;
    throw refusal(
      'not_reachable',
      `The stack ${name} has no outputs for this version of the CLI. Deploy it again.`,
    );
  } catch (error) {
    // CloudFormation has no exception class for a missing stack.
    if (error instanceof Error && error.message.includes('does not exist')) {
      throw refusal('not_reachable', `There is no stack ${name} in this account and Region.`, {
        cause: error,
      });
    }
    throw error;
  } finally {
    client.destroy();
  }
};

const callerArn = async (): Promise<string> => {
  const client = new STSClient({});
  try {
    return (await client.send(new GetCallerIdentityCommand({}))).Arn ?? 'unknown';
  } finally {
    client.destroy();
  }
};

/** Connects to a stage in AWS with the caller's credentials. */
export const connectAws = async (
  stage: string,
  { profile, region }: Pick<TargetOptions, 'profile' | 'region'>,
): Promise<Connection> => {
  // Every SDK client of this process reads the profile and Region from here.
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  if (region !== undefined) process.env.AWS_REGION = region;
  const [outputs, actor] = await Promise.all([readOutputs(stage), callerArn()]);
  const output = (name: string): string => String(outputs[name]);
  const gateway = apiGatewayClient();
  const table = openAdminTable(output(OUTPUTS.tableName), {});
  const admin = administration({
    table,
    usagePlans: apiGatewayUsagePlans({
      client: gateway,
      apiId: output(OUTPUTS.apiId),
      stageName: output(OUTPUTS.stageName),
      planIds: planTable((plan) => output(usagePlanOutput(plan))),
    }),
    keyPrefix: outputs[OUTPUTS.keyPrefix] as (typeof KEY_PREFIXES)[number],
    stage,
    actor,
    clock: systemClock,
    ids: randomIds,
  });
  return {
    admin,
    hashes: keyedHashesFrom(secretsManagerSecret(output(OUTPUTS.hashSecretArn))),
    close() {
      gateway.destroy();
      table.client.destroy();
    },
  };
};
