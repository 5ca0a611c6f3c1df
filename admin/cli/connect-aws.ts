import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { parseKnownFiles } from '@smithy/core/config';
import { administration } from '#admin/administration.ts';
import { randomIds } from '#admin/ids.ts';
import { refusal } from '#admin/refusal.ts';
import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import { systemClock } from '#shared/clock.ts';
import type { KEY_PREFIXES } from '#shared/env.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { PLAN_NAMES, planTable } from '#shared/rate-limits/plans.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { type Connection, openAdminTable, type TargetOptions } from './connection.ts';

/** The outputs of every API stack of this version. `providers` is missing where none are named. */
const REQUIRED = [
  'apiId',
  'stageName',
  'baseUrl',
  'tableName',
  'hashSecretArn',
  'keyPrefix',
  'version',
  'commit',
] as const;

/** How the deployed stacks name what the CLI reads. The caller passes the module of lib/ that the stacks use too. */
export interface StackNames {
  apiStackName(stage: string): string;
  alarmNamePrefix(stage: string): string;
  usagePlanOutput(plan: string): string;
  readonly OUTPUTS: Readonly<Record<(typeof REQUIRED)[number] | 'providers', string>>;
}

/** Reads the outputs of a stage's API stack, and returns each by its name. */
const readOutputs = async (
  { apiStackName, OUTPUTS, usagePlanOutput }: StackNames,
  stage: string,
): Promise<(name: string) => string> => {
  const required = [...REQUIRED.map((output) => OUTPUTS[output]), ...PLAN_NAMES.map(usagePlanOutput)];
  const name = apiStackName(stage);
  const client = new CloudFormationClient({});
  try {
    const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: name }));
    const outputs = new Map(Stacks?.[0]?.Outputs?.map((output) => [output.OutputKey, output.OutputValue]));
    if (required.every((output) => outputs.has(output))) return (output) => outputs.get(output) ?? '';
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

/** Returns who the credentials belong to, and the Region that the commands use. */
const callerIdentity = async () => {
  const client = new STSClient({});
  try {
    const { Arn = 'unknown', Account = 'unknown' } = await client.send(new GetCallerIdentityCommand({}));
    return { actor: Arn, aws: { account: Account, region: await client.config.region() } };
  } finally {
    client.destroy();
  }
};

/** Throws `not_allowed` if the profile is in none of the AWS config files. The SDK would only say that it found no credentials. */
const requireProfile = async (profile: string): Promise<void> => {
  const profiles = await parseKnownFiles({});
  if (profiles[profile] !== undefined) return;
  const known = Object.keys(profiles).join(', ') || 'none';
  throw refusal('not_allowed', `There is no AWS profile ${profile}. The profiles are: ${known}.`);
};

/** The names of the alarms with a prefix that are raised. */
const raisedAlarms = async (prefix: string): Promise<readonly string[]> => {
  const client = new CloudWatchClient({});
  const names: string[] = [];
  try {
    const query = { AlarmNamePrefix: prefix, StateValue: 'ALARM' } as const;
    for await (const { MetricAlarms = [] } of paginateDescribeAlarms({ client }, query)) {
      names.push(...MetricAlarms.map(({ AlarmName = '' }) => AlarmName));
    }
    return names;
  } finally {
    client.destroy();
  }
};

/** Connects to a stage in AWS with the caller's credentials. */
export const connectAws = async (
  names: StackNames,
  stage: string,
  { profile, region }: Pick<TargetOptions, 'profile' | 'region'>,
): Promise<Connection> => {
  // Every SDK client of this process reads the profile and Region from here.
  if (profile !== undefined) {
    await requireProfile(profile);
    process.env.AWS_PROFILE = profile;
  }
  if (region !== undefined) process.env.AWS_REGION = region;
  const { OUTPUTS, usagePlanOutput, alarmNamePrefix } = names;
  const [output, { actor, aws }] = await Promise.all([readOutputs(names, stage), callerIdentity()]);
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
    keyPrefix: output(OUTPUTS.keyPrefix) as (typeof KEY_PREFIXES)[number],
    stage,
    actor,
    clock: systemClock,
    ids: randomIds,
  });
  return {
    admin,
    hashes: keyedHashesFrom(secretsManagerSecret(output(OUTPUTS.hashSecretArn))),
    release: () => ({ version: output(OUTPUTS.version), commit: output(OUTPUTS.commit) }),
    alarms: () => raisedAlarms(alarmNamePrefix(stage)),
    hashSecretArn: output(OUTPUTS.hashSecretArn),
    aws,
    baseUrl: output(OUTPUTS.baseUrl),
    isSandbox: isSandbox(output(OUTPUTS.providers).split(',')),
    close() {
      gateway.destroy();
      table.client.destroy();
    },
  };
};
