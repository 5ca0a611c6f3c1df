import { CloudFormationClient, DescribeStacksCommand } from '@aws-sdk/client-cloudformation';
import { CloudWatchClient, paginateDescribeAlarms } from '@aws-sdk/client-cloudwatch';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { parseKnownFiles } from '@smithy/core/config';
import { AdminError } from '#admin/admin-error.ts';
import { administration } from '#admin/administration.ts';
import {
  apiGatewayAuthorizerCache,
  apiGatewayClient,
  apiGatewayUsagePlans,
} from '#admin/usage-plans/api-gateway.ts';
import { systemClock } from '#shared/clock.ts';
import type { KEY_PREFIXES } from '#shared/env.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { planTable } from '#shared/rate-limits/plans.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { secretsManagerSecret } from '#shared/secrets/secret-source.ts';
import { type Connection, openAdminTable, type TargetOptions } from './connection.ts';
import { movedAliases } from './moved-aliases.ts';

/** The outputs of an API stack that the CLI reads. */
type Output = 'apiId' | 'stageName' | 'baseUrl' | 'tableName' | 'hashSecretArn' | 'keyPrefix' | 'providers';

/** How the deployed stacks name what the CLI reads. The caller passes the module of lib/ that the stacks use too. */
interface StackNames {
  apiStackName(stage: string): string;
  alarmNamePrefix(stage: string): string;
  usagePlanOutput(plan: string): string;
  readonly OUTPUTS: Readonly<Record<Output | 'version' | 'commit', string>>;
}

/** Reads the outputs of an API stack. Returns a function that returns each by its name, and throws `not_reachable` for one that is missing. */
const readOutputs = async (name: string) => {
  const client = new CloudFormationClient({});
  const { Stacks } = await client.send(new DescribeStacksCommand({ StackName: name })).catch((cause) => {
    // CloudFormation has no exception class for a missing stack.
    if (!String(cause).includes('does not exist')) throw cause;
    throw new AdminError('not_reachable', `There is no stack ${name} in this account and Region.`, { cause });
  });
  const outputs = Stacks?.[0]?.Outputs ?? [];
  return (output: string, absent?: string): string => {
    const value = outputs.find(({ OutputKey }) => OutputKey === output)?.OutputValue ?? absent;
    if (value !== undefined) return value;
    throw new AdminError(
      'not_reachable',
      `The stack ${name} has no outputs for this version of the CLI. Deploy it again.`,
    );
  };
};

/**
 * Chooses the profile and Region of every SDK client of this process. Returns whose credentials they are, and the Region. Throws
 * `not_allowed` if the profile is in none of the AWS config files: the SDK would only say that it found no credentials.
 */
const signIn = async ({ profile, region }: Pick<TargetOptions, 'profile' | 'region'>) => {
  const profiles = profile === undefined ? {} : await parseKnownFiles({});
  if (profile !== undefined && profiles[profile] === undefined) {
    const known = Object.keys(profiles).join(', ') || 'none';
    throw new AdminError('not_allowed', `There is no AWS profile ${profile}. The profiles are: ${known}.`);
  }
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  if (region !== undefined) process.env.AWS_REGION = region;
  const client = new STSClient({});
  const { Arn = 'unknown', Account = 'unknown' } = await client.send(new GetCallerIdentityCommand({}));
  return { actor: Arn, account: Account, region: await client.config.region() };
};

/** The names of the alarms with a prefix that are raised. */
const raisedAlarms = async (prefix: string): Promise<readonly string[]> => {
  const names: string[] = [];
  const query = { AlarmNamePrefix: prefix, StateValue: 'ALARM' } as const;
  for await (const page of paginateDescribeAlarms({ client: new CloudWatchClient({}) }, query)) {
    names.push(...(page.MetricAlarms ?? []).map(({ AlarmName = '' }) => AlarmName));
  }
  return names;
};

/** A stage, and where its config says that it is. */
interface StagePlace {
  readonly stage: string;
  readonly account: string | null;
  readonly region: string | null;
}

/**
 * Signs in to a stage. Throws `not_allowed` if the account or the Region of the shell is not that of its config: after a failover, a shell with
 * the Region of before would change the dead stage.
 */
const signInTo = async ({ stage, account, region }: StagePlace, options: TargetOptions) => {
  const identity = await signIn(options);
  const isThere = [account ?? identity.account, region ?? identity.region];
  const isHere = [identity.account, identity.region];
  if (isThere.join() === isHere.join()) return identity;
  const [there, here] = [isThere, isHere].map(([id, name]) => `account ${id} and Region ${name}`);
  throw new AdminError(
    'not_allowed',
    `Stage ${stage} is in ${there}, but this shell is in ${here}: choose others with --profile and --region.`,
  );
};

/** Returns the client of a stage's secrets. */
export const secretsClientOf = async (
  stage: StagePlace,
  options: TargetOptions,
): Promise<SecretsManagerClient> => {
  const { region } = await signInTo(stage, options);
  return new SecretsManagerClient({ region });
};

/** Connects to a stage in AWS with the caller's credentials. */
export const connectAws = async (
  names: StackNames,
  place: StagePlace,
  options: TargetOptions,
): Promise<Connection> => {
  const { stage } = place;
  const { OUTPUTS, usagePlanOutput, alarmNamePrefix } = names;
  const { actor, ...aws } = await signInTo(place, options);
  const output = await readOutputs(names.apiStackName(stage));
  // Of both ports or of none.
  const inSandbox = isSandbox(output(OUTPUTS.providers, '').split(','));
  const client = apiGatewayClient();
  const admin = administration({
    table: openAdminTable(output(OUTPUTS.tableName), {}),
    authorizerCache: apiGatewayAuthorizerCache(client, {
      restApiId: output(OUTPUTS.apiId),
      stageName: output(OUTPUTS.stageName),
    }),
    usagePlans: apiGatewayUsagePlans({
      client,
      planIds: planTable((plan) => output(usagePlanOutput(plan))),
    }),
    registryIsSandbox: inSandbox,
    keyPrefix: output(OUTPUTS.keyPrefix) as (typeof KEY_PREFIXES)[number],
    stage,
    actor,
    clock: systemClock,
  });
  return {
    admin,
    hashes: keyedHashesFrom(secretsManagerSecret(output(OUTPUTS.hashSecretArn))),
    release: () => ({ version: output(OUTPUTS.version), commit: output(OUTPUTS.commit) }),
    alarms: () => raisedAlarms(alarmNamePrefix(stage)),
    movedAliases: () => movedAliases(names.apiStackName(stage)),
    hashSecretArn: output(OUTPUTS.hashSecretArn),
    aws,
    baseUrl: output(OUTPUTS.baseUrl),
    isSandbox: inSandbox,
  };
};
