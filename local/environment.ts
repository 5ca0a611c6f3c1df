import { releaseOf } from '#lib/release.ts';
import type { KeyPrefix, OtpAccess } from '#shared/env.ts';
import type { DataFolder } from './data-folder.ts';
import { StartupError } from './startup-error.ts';

/**
 * The environment variables of the service on one machine. Only this file of local/ and bin/local.ts reads or sets `process.env`; the
 * functions read theirs through shared/env.ts, as on AWS.
 */

/** Names on one machine. */
export const TABLE_NAME = 'buyer-linking-local';
/** The stage name of the local service. */
export const STAGE_NAME = 'local';
/** The prefix of API keys that the local service accepts. */
export const KEY_PREFIX: KeyPrefix = 'blk_test_';

/** The URL of another DynamoDB than the embedded one, from DYNAMODB_ENDPOINT. */
export const chosenDatabaseEndpoint = (): string | undefined => process.env.DYNAMODB_ENDPOINT;

/** The deploy setting `otpAccess`, from OTP_ACCESS. Throws a StartupError if it has another value than the two. */
export const chosenOtpAccess = (): OtpAccess => {
  const chosen = process.env.OTP_ACCESS ?? 'api-key';
  if (chosen !== 'api-key' && chosen !== 'public') {
    throw new StartupError('OTP_ACCESS must be "api-key" or "public".');
  }
  return chosen;
};

/**
 * The ceiling of SMS per day from SMS_PER_DAY. In public mode a deploy requires one, so there is a default; otherwise
 * undefined means none. Throws a StartupError if it is no positive integer.
 */
const chosenSmsPerDay = (): string | undefined => {
  const chosen =
    process.env.SMS_PER_DAY ?? (chosenOtpAccess() === 'public' ? DEFAULT_PUBLIC_SMS_PER_DAY : undefined);
  if (chosen !== undefined && !/^[1-9][0-9]*$/.test(chosen)) {
    throw new StartupError('SMS_PER_DAY must be a positive integer.');
  }
  return chosen;
};

const DEFAULT_PUBLIC_SMS_PER_DAY = '1000';

/** True if `npm start` runs this process. */
export const isStartedByNpm = (): boolean => process.env.npm_lifecycle_event === 'start';

/** Sets the variables that shared/env.ts reads, as the stacks do for each function. Variables that a person may choose are kept. */
export const setEnvironment = (baseUrl: string, databaseEndpoint: string, folder: DataFolder): void => {
  const smsPerDay = chosenSmsPerDay();
  const release = releaseOf();
  Object.assign(process.env, {
    TABLE_NAME,
    DYNAMODB_ENDPOINT: databaseEndpoint,
    HASH_SECRET: `file:${folder.hashSecretFile}`,
    PROVIDER_SECRET: `file:${folder.providerSecretFile}`,
    IDENTITY_PROVIDERS: process.env.IDENTITY_PROVIDERS ?? 'jibit,zohal',
    SMS_PROVIDERS: process.env.SMS_PROVIDERS ?? 'kavenegar,sms-ir',
    SIGNING_KEYS: `file:${folder.signingKeyFile}`,
    TOKEN_ISSUER: baseUrl,
    KEY_PREFIX,
    OTP_ACCESS: chosenOtpAccess(),
    RELEASE_VERSION: release.version,
    RELEASE_COMMIT: release.commit,
    PAGES_FOLDER: folder.pagesFolder,
    ...(smsPerDay === undefined ? {} : { SMS_PER_DAY: smsPerDay }),
  });
};

/** The access key for a DynamoDB that this service did not start. DynamoDB Local keeps one database per access key, so it is fixed. */
export const FIXED_ACCESS_KEY_ID = 'local';

/** Sets credentials that are valid in no AWS account, so that nothing here touches the account a developer is signed in to. */
export const setLocalCredentials = (accessKeyId = FIXED_ACCESS_KEY_ID): void => {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_REGION: 'us-east-1',
  });
  // A profile would have precedence over the two above.
  delete process.env.AWS_PROFILE;
  delete process.env.AWS_SESSION_TOKEN;
};
