import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';

/** The default of CDK. */
const DEFAULT_REGION = 'us-east-1';

const WHAT_TO_DO =
  'Sign in, for example with "aws sso login", and name the profile with --profile or AWS_PROFILE.';

/** Asks AWS once whose the credentials are, since CDK asks for each stack and says only that it found none. Returns what is wrong, in one sentence. */
export const credentialsFault = async (profile?: string): Promise<string | undefined> => {
  if (profile !== undefined) process.env.AWS_PROFILE = profile;
  try {
    const region = await new STSClient({}).config.region().catch(() => DEFAULT_REGION);
    await new STSClient({ region }).send(new GetCallerIdentityCommand({}));
    return undefined;
  } catch (error) {
    const { name, message } = error as Error;
    return `The AWS credentials do not work (${name}: ${message.split(/\.\s|\.?$/, 1)[0]}). ${WHAT_TO_DO}`;
  }
};
