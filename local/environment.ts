import { releaseOf } from '#lib/release.ts';
import { SITE_FOLDER } from '#lib/site.ts';
import type { KeyPrefix, OtpAccess } from '#shared/env.ts';
import { SANDBOX } from '#shared/providers/sandbox.ts';
import type { DataFolder } from './data-folder.ts';
import { StartupError } from './startup-error.ts';

/**
 * The environment variables of the service on one machine. Only this file of local/ and bin/local.ts reads or sets `process.env`; the
 * functions read theirs through shared/env.ts, as on AWS.
 */

export const TABLE_NAME = 'buyer-linking-local';
/** The stage name of the local service. */
export const STAGE_NAME = 'local';
/** The prefix of API keys that the local service accepts. */
export const KEY_PREFIX: KeyPrefix = 'blk_test_';

/** The URL of another DynamoDB than the embedded one, from DYNAMODB_ENDPOINT. */
export const chosenDatabaseEndpoint = (): string | undefined => process.env.DYNAMODB_ENDPOINT;

/** The folder of a site that is built already, from SITE_FOLDER. */
export const chosenSiteFolder = (): string | undefined => process.env.SITE_FOLDER;

/** The deploy setting `otpAccess`, from OTP_ACCESS. Throws a StartupError if it has another value than the two. */
export const chosenOtpAccess = (): OtpAccess => {
  const chosen = process.env.OTP_ACCESS ?? 'api-key';
  if (chosen !== 'api-key' && chosen !== 'public') {
    throw new StartupError('OTP_ACCESS must be "api-key" or "public".');
  }
  return chosen;
};

/** Sets the variables that shared/env.ts reads, as the stacks do for each function. `others` are set too, and have precedence. */
export const setEnvironment = (folder: DataFolder, others: Readonly<Record<string, string>>): void => {
  const otpAccess = chosenOtpAccess();
  const { version, commit } = releaseOf();
  Object.assign(process.env, {
    TABLE_NAME,
    HASH_SECRET: `file:${folder.hashSecretFile}`,
    // The sandbox reads no secret.
    PROVIDER_SECRET: 'file:none',
    IDENTITY_PROVIDERS: SANDBOX,
    SMS_PROVIDERS: SANDBOX,
    SIGNING_KEYS: `file:${folder.signingKeyFile}`,
    KEY_PREFIX,
    OTP_ACCESS: otpAccess,
    RELEASE_VERSION: version,
    RELEASE_COMMIT: commit,
    SITE_FOLDER: chosenSiteFolder() ?? SITE_FOLDER,
    // In public mode a deploy requires a ceiling.
    ...(otpAccess === 'public' ? { SMS_PER_DAY: '1000' } : {}),
    ...others,
  });
};

/** Sets credentials that are valid in no AWS account, so that nothing here touches the account a developer is signed in to. */
export const setLocalCredentials = (): void => {
  Object.assign(process.env, LOCAL_CREDENTIALS);
  // A profile would have precedence over them.
  delete process.env.AWS_PROFILE;
  delete process.env.AWS_SESSION_TOKEN;
};

/** DynamoDB Local keeps one database per access key. The embedded one takes any. */
export const LOCAL_CREDENTIALS = {
  AWS_ACCESS_KEY_ID: 'local',
  AWS_SECRET_ACCESS_KEY: 'local',
  AWS_REGION: 'us-east-1',
} as const;
