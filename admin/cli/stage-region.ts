import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { refusal } from '#admin/refusal.ts';
import type { ProviderSecret } from './connection.ts';

/**
 * Returns the Region of a stage: that of its config, else that of the credentials. Throws `not_allowed` if the credentials are of another
 * account than the config names.
 */
export const stageRegion = async ({
  stage,
  account,
  region,
}: Omit<ProviderSecret, 'name'>): Promise<string> => {
  const client = new STSClient(region === null ? {} : { region });
  try {
    const { Account: caller } = await client.send(new GetCallerIdentityCommand({}));
    if (account !== null && caller !== account) {
      throw refusal(
        'not_allowed',
        `Stage ${stage} is in account ${account}, and these credentials are of account ${caller}. Nothing was changed.`,
      );
    }
    return await client.config.region();
  } finally {
    client.destroy();
  }
};
