import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { VariableName } from '#shared/env.ts';
import { type Permissions, permissionsOf } from '#shared/route.ts';
import type { Config } from './config.ts';
import type { DataStack } from './data-stack.ts';
import { allow, onTable } from './grants.ts';
import { metricNamespaceOf } from './metrics.ts';
import type { Release } from './release.ts';

/** What the environment of the functions is made of. */
export interface Settings {
  readonly config: Config;
  readonly data: DataStack;
  readonly release: Release;
  readonly issuers: readonly string[];
}

/** The environment variables that a deployed function can have. */
type DeployedVariable = Exclude<VariableName, 'DYNAMODB_ENDPOINT' | 'BASE_URL'>;

/** The value of each variable in a stage; undefined for what the stage leaves out. */
const VALUES: Readonly<Record<DeployedVariable, (settings: Settings) => string | undefined>> = {
  TABLE_NAME: ({ data }) => data.table.tableName,
  HASH_SECRET: ({ data }) => data.hashSecret.secretArn,
  PROVIDER_SECRET: ({ config }) => config.providers.secretName,
  IDENTITY_PROVIDERS: ({ config }) => config.providers.identityRegistry.join(','),
  SMS_PROVIDERS: ({ config }) => config.providers.sms.join(','),
  // The ARN, as in the grants: an export that a deployed stack imports cannot be dropped, so each key is exported in one form through a rotation.
  SIGNING_KEYS: ({ data }) => data.signingKeys.map((key) => key.keyArn).join(','),
  TOKEN_ISSUERS: ({ issuers }) => issuers.join(','),
  KEY_PREFIX: ({ config }) => config.keyPrefix,
  OTP_ACCESS: ({ config }) => config.otpAccess,
  PAID_CHECKS_PER_DAY: ({ config }) => config.spend.paidChecksPerDay?.toString(),
  SMS_PER_DAY: ({ config }) => config.spend.smsPerDay?.toString(),
  METRIC_NAMESPACE: ({ config }) => metricNamespaceOf(config.stage),
  RELEASE_VERSION: ({ release }) => release.version,
  RELEASE_COMMIT: ({ release }) => release.commit,
  SUPPORT_EMAIL: ({ config }) => config.support?.email,
  STATUS_URL: ({ config }) => config.support?.statusUrl ?? undefined,
  BUYER_APP_URL: ({ config }) => config.support?.buyerAppUrl ?? undefined,
};

/** The ARNs of the resources that functions use. */
export interface Resources {
  readonly tableArns: readonly string[];
  readonly hashSecretArn: string;
  readonly providerSecretArn: string;
  /** The signing keys that code in service may use: the published ones, and the retired ones. */
  readonly signingKeyArns: readonly string[];
}

export const resourcesOf = (
  scope: Construct,
  { config, data }: Pick<Settings, 'config' | 'data'>,
): Resources => ({
  tableArns: data.tables.map(({ tableArn }) => tableArn),
  hashSecretArn: data.hashSecret.secretArn,
  providerSecretArn: Stack.of(scope).formatArn({
    service: 'secretsmanager',
    resource: 'secret',
    // Secrets Manager appends a hyphen and six random characters to the name of a secret.
    resourceName: `${config.providers.secretName}-??????`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  }),
  signingKeyArns: [...data.signingKeys, ...data.retiredSigningKeys].map((key) => key.keyArn),
});

/** What a permission gives a function. */
interface Given {
  readonly variables?: readonly DeployedVariable[];
  readonly statements?: (permissions: Permissions, resources: Resources) => readonly PolicyStatement[];
  /** Its calls leave AWS, from the fixed address of `staticEgress` if the stage has one. */
  readonly callsProviders?: true;
}

const toRead = (secretArn: string): readonly PolicyStatement[] => [
  allow(['secretsmanager:GetSecretValue'], [secretArn]),
];

const PROVIDER = {
  statements: (_: Permissions, { providerSecretArn }: Resources) => toRead(providerSecretArn),
  callsProviders: true,
} as const;

const GIVEN: Readonly<Record<Exclude<keyof Permissions, 'updates'>, Given>> = {
  table: {
    variables: ['TABLE_NAME'],
    statements: (permissions, { tableArns }) => onTable(permissions, tableArns),
  },
  hashes: { variables: ['HASH_SECRET'], statements: (_, { hashSecretArn }) => toRead(hashSecretArn) },
  identityRegistry: {
    variables: ['PROVIDER_SECRET', 'KEY_PREFIX', 'IDENTITY_PROVIDERS', 'PAID_CHECKS_PER_DAY'],
    ...PROVIDER,
  },
  identityProviders: { variables: ['IDENTITY_PROVIDERS'] },
  sms: { variables: ['PROVIDER_SECRET', 'KEY_PREFIX', 'SMS_PROVIDERS', 'SMS_PER_DAY'], ...PROVIDER },
  smsProviders: { variables: ['SMS_PROVIDERS', 'KEY_PREFIX'] },
  signingKey: {
    variables: ['SIGNING_KEYS'],
    // The same on every key. A role changes before its function, and the version that still serves signs with the key that was first before:
    // docs/contributors/adr/0014-grants-outlive-code.md.
    statements: ({ signingKey }, { signingKeyArns }) => [
      allow(['kms:GetPublicKey', ...(signingKey === 'sign' ? ['kms:Sign'] : [])], signingKeyArns),
    ],
  },
  tokenIssuer: { variables: ['TOKEN_ISSUERS'] },
  keyPrefix: { variables: ['KEY_PREFIX'] },
  release: { variables: ['RELEASE_VERSION', 'RELEASE_COMMIT'] },
  support: { variables: ['SUPPORT_EMAIL', 'STATUS_URL'] },
  otpAccess: { variables: ['OTP_ACCESS'] },
  site: { variables: ['BUYER_APP_URL'] },
};

const givenTo = (permissions: Permissions): readonly Given[] =>
  Object.entries(GIVEN)
    .filter(([name]) => permissions[name as keyof Permissions] !== undefined)
    .map(([, given]) => given);

type Row = Parameters<typeof permissionsOf>[0];

/** Returns the policy statements of a row's function. They name every action and every resource. */
export const grantsOf = (row: Row, resources: Resources): readonly PolicyStatement[] => {
  const permissions = permissionsOf(row);
  return givenTo(permissions).flatMap(({ statements }) => statements?.(permissions, resources) ?? []);
};

/** Returns the environment variables of a row's function: those of its permissions and of its log. */
export const variablesOf = (row: Row): readonly DeployedVariable[] => [
  ...new Set<DeployedVariable>([
    ...givenTo(permissionsOf(row)).flatMap(({ variables = [] }) => variables),
    'METRIC_NAMESPACE',
  ]),
];

/** Returns the environment of a row's function in a stage. */
export const environmentOf = (row: Row, settings: Settings): Readonly<Record<string, string>> =>
  Object.fromEntries(
    variablesOf(row).flatMap((name) => {
      const value = VALUES[name](settings);
      return value ? [[name, value]] : [];
    }),
  );

/** Returns whether a function calls providers and so uses the fixed address of `staticEgress`. */
export const callsProviders = (row: Row): boolean =>
  givenTo(permissionsOf(row)).some((given) => given.callsProviders);
