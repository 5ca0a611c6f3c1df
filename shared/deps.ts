/** Builds the dependencies of each function from its environment. One builder per function, so that a bundle holds only what it uses. */

import { keyFileSigner } from '#shared/access-tokens/key-file.ts';
import { kmsSigner } from '#shared/access-tokens/kms.ts';
import type { TokenSigner } from '#shared/access-tokens/port.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { pageReader } from '#shared/docs-page/pages.ts';
import { pagesFolder, readEnv, runsInLambda } from '#shared/env.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { codesOf } from '#shared/one-time-codes/new-code.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { assertSandboxAllowed } from '#shared/providers/sandbox.ts';
import { rateLimiter } from '#shared/rate-limits/rate-limiter.ts';
import { stageCeilings } from '#shared/rate-limits/stage-ceilings.ts';
import { fileSecret } from '#shared/secrets/file.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import type { SecretSource } from '#shared/secrets/port.ts';
import { secretsManagerSecret } from '#shared/secrets/secrets-manager.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { userLinks } from '#shared/users/link-user.ts';
import { personChecks } from '#shared/users/person-check-lease.ts';
import { personCheckStore } from '#shared/users/person-check-store.ts';
import { userReads } from '#shared/users/read-users.ts';
import { userRemovals } from '#shared/users/remove-user.ts';
import openApiDocument from '../openapi.json' with { type: 'json' };
import { systemClock } from './clock.ts';

const FILE_SCHEME = 'file:';

const secretAt = (address: string): SecretSource =>
  address.startsWith(FILE_SCHEME)
    ? fileSecret(address.slice(FILE_SCHEME.length))
    : secretsManagerSecret(address);

const hashesFromEnv = () => keyedHashesFrom(secretAt(readEnv(['HASH_SECRET']).HASH_SECRET));

const signerFromEnv = (): TokenSigner => {
  const [first = '', ...others] = readEnv(['SIGNING_KEYS']).SIGNING_KEYS;
  return first.startsWith(FILE_SCHEME)
    ? keyFileSigner(first.slice(FILE_SCHEME.length))
    : kmsSigner([first, ...others]);
};

const tableFromEnv = (): Table => {
  const { TABLE_NAME, DYNAMODB_ENDPOINT } = readEnv(['TABLE_NAME', 'DYNAMODB_ENDPOINT']);
  return openTable(TABLE_NAME, DYNAMODB_ENDPOINT);
};

/** On one machine a process serves all requests at once, so a late response of the limiter's store may be the fault of the process. */
const LOCAL_LIMITER_TIMEOUT_MS = 3000;

/** The table, and the dependencies of every function that takes a key. */
const keyedDeps = () => {
  const table = tableFromEnv();
  const limiter = runsInLambda() ? rateLimiter(table) : rateLimiter(table, LOCAL_LIMITER_TIMEOUT_MS);
  return { table, common: { rateLimiter: limiter, clock: systemClock } };
};

export const authorizerDeps = () => ({
  secrets: keySecretStore(tableFromEnv()),
  keyPrefix: readEnv(['KEY_PREFIX']).KEY_PREFIX,
  clock: systemClock,
});

export const createUserDeps = () => {
  const env = readEnv(['PROVIDER_SECRET', 'IDENTITY_PROVIDERS', 'PAID_CHECKS_PER_DAY', 'KEY_PREFIX']);
  assertSandboxAllowed(env.IDENTITY_PROVIDERS, env.KEY_PREFIX);
  const { table, common } = keyedDeps();
  const ceilings = { paidChecksPerDay: env.PAID_CHECKS_PER_DAY };
  return {
    ...common,
    checks: personChecks(personCheckStore(table), systemClock),
    users: { ...userReads(table), ...userLinks(table) },
    ceilings: stageCeilings(common.rateLimiter, ceilings, systemClock),
    hashes: hashesFromEnv(),
    identityRegistry: identityRegistryFrom(env.IDENTITY_PROVIDERS, secretAt(env.PROVIDER_SECRET)),
  };
};

export const listUsersDeps = () => {
  const { table, common } = keyedDeps();
  return { ...common, users: userReads(table), hashes: hashesFromEnv() };
};

export const getUserDeps = () => {
  const { table, common } = keyedDeps();
  return { ...common, users: userReads(table) };
};

export const deleteUserDeps = () => {
  const { table, common } = keyedDeps();
  return { ...common, users: userRemovals(table) };
};

export const sendOtpDeps = () => {
  const env = readEnv(['PROVIDER_SECRET', 'SMS_PROVIDERS', 'SMS_PER_DAY', 'OTP_ACCESS', 'KEY_PREFIX']);
  assertSandboxAllowed(env.SMS_PROVIDERS, env.KEY_PREFIX);
  const { table, common } = keyedDeps();
  return {
    ...common,
    codes: codeStore(table),
    newCode: codesOf(env.SMS_PROVIDERS),
    ceilings: stageCeilings(common.rateLimiter, { smsPerDay: env.SMS_PER_DAY }, systemClock),
    hashes: hashesFromEnv(),
    sms: smsSenderFrom(env.SMS_PROVIDERS, secretAt(env.PROVIDER_SECRET)),
    smsProvider: env.SMS_PROVIDERS[0] ?? 'none',
    otpAccess: env.OTP_ACCESS,
  };
};

export const verifyOtpDeps = () => {
  const env = readEnv(['TOKEN_ISSUER', 'OTP_ACCESS']);
  const { table, common } = keyedDeps();
  return {
    ...common,
    codes: codeStore(table),
    buyers: buyerStore(table),
    hashes: hashesFromEnv(),
    signer: signerFromEnv(),
    tokenIssuer: env.TOKEN_ISSUER,
    otpAccess: env.OTP_ACCESS,
  };
};

export const getJwksDeps = () => ({ signer: signerFromEnv(), clock: systemClock });

export const getOpenidConfigurationDeps = () => ({
  tokenIssuer: readEnv(['TOKEN_ISSUER']).TOKEN_ISSUER,
  clock: systemClock,
});

export const getOpenapiDeps = () => {
  const { RELEASE_VERSION, RELEASE_COMMIT } = readEnv(['RELEASE_VERSION', 'RELEASE_COMMIT']);
  const release = { 'x-service-version': RELEASE_VERSION, 'x-commit': RELEASE_COMMIT };
  return {
    document: { ...openApiDocument, info: { ...openApiDocument.info, ...release } },
    clock: systemClock,
  };
};

export const getDocsDeps = () => ({ readPage: pageReader(pagesFolder()), clock: systemClock });

export const getGuideDeps = getDocsDeps;
