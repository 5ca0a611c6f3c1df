import { DescribeSecretCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import type { Config } from '#lib/config.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { failureOf } from './errors.ts';

/** The account and the Region that a command uses. */
export interface Target {
  readonly account: string;
  readonly region: string;
}

/** A stage that cannot be used as the command line asks. The message is one sentence with the next step. */
export class TargetError extends Error {
  override readonly name = 'TargetError';
}

const callerAccount = async (client: STSClient): Promise<string> => {
  try {
    return (await client.send(new GetCallerIdentityCommand({}))).Account ?? '';
  } catch (error) {
    throw new TargetError(failureOf(error).message, { cause: error });
  }
};

const regionOf = (client: STSClient): Promise<string | undefined> =>
  client.config.region().catch(() => undefined);

/**
 * Returns the account and the Region of the credentials. Throws TargetError if there are none, or if they are not those of the config:
 * then nothing has been read or changed yet.
 */
export const targetOf = async ({ stage, account, region }: Config): Promise<Target> => {
  const named = new STSClient({});
  const own = await regionOf(named);
  named.destroy();
  if (own === undefined && region === null) {
    throw new TargetError('No AWS Region is set. Name one: --region eu-central-1.');
  }
  if (own !== undefined && region !== null && own !== region) {
    throw new TargetError(
      `Stage ${stage} is in Region ${region}, and these credentials use ${own}. Nothing was changed.`,
    );
  }
  const used = region ?? own ?? '';
  const client = new STSClient({ region: used });
  const caller = await callerAccount(client).finally(() => client.destroy());
  if (account !== null && caller !== account) {
    throw new TargetError(
      `Stage ${stage} is in account ${account}, and these credentials are of account ${caller}. Nothing was changed.`,
    );
  }
  return { account: caller, region: used };
};

/** Throws TargetError if the provider secret of the stage does not exist. Its content is not read. The sandbox requires none. */
export const requireProviderSecret = async (
  { providers, stage }: Config,
  { account, region }: Target,
): Promise<void> => {
  if (isSandbox(providers.sms)) return;
  const client = new SecretsManagerClient({ region });
  try {
    await client.send(new DescribeSecretCommand({ SecretId: providers.secretName }));
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ResourceNotFoundException') {
      throw new TargetError(`The provider secret could not be looked up. ${failureOf(error).message}`, {
        cause: error,
      });
    }
    throw new TargetError(
      `Stage ${stage} has no provider secret "${providers.secretName}" in account ${account}, Region ${region}. Create it first: docs/deploy.md, "Provider credentials". Nothing was changed.`,
      { cause: error },
    );
  } finally {
    client.destroy();
  }
};
