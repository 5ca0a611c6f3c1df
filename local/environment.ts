import type { KeyPrefix } from '#shared/api-keys/format.ts';
import type { OtpAccess } from '#shared/env.ts';
import type { DataFolder } from './data-folder.ts';
import { StartupError } from './startup-error.ts';

/** The table and the keys of the service on one machine. */
export const TABLE_NAME = 'buyer-linking-local';
export const KEY_PREFIX: KeyPrefix = 'blk_test_';

/** Where the parts of a running service are, as its functions must know it. */
export interface Whereabouts {
  readonly baseUrl: string;
  readonly databaseEndpoint: string;
  readonly folder: Pick<DataFolder, 'hashSecretFile' | 'providerSecretFile' | 'signingKeyFile'>;
}

/** Sets the variables that shared/env.ts reads, as the stacks do for each function. What a person has set for choosing is kept. */
export const setEnvironment = ({ baseUrl, databaseEndpoint, folder }: Whereabouts): void => {
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
    OTP_ACCESS: otpAccess(),
  });
};

/** Credentials that open nothing: whatever account a developer is signed in to, nothing here may touch it. */
export const setLocalCredentials = (): void => {
  Object.assign(process.env, {
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_REGION: 'us-east-1',
  });
  // A profile would go before the two above.
  delete process.env.AWS_PROFILE;
  delete process.env.AWS_SESSION_TOKEN;
};

/** The deploy setting `otpAccess`, from the variable OTP_ACCESS. */
export const otpAccess = (): OtpAccess => {
  const chosen = process.env.OTP_ACCESS ?? 'api-key';
  if (chosen !== 'api-key' && chosen !== 'public') {
    throw new StartupError('OTP_ACCESS must be "api-key" or "public".');
  }
  return chosen;
};
