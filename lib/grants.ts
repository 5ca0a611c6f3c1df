import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { VariableName } from '#shared/env.ts';
import {
  type Permissions,
  permissionsOf,
  type Route,
  type TableAction,
  type TablePermissions,
} from '#shared/route.ts';
import type { ItemPrefix } from '#shared/table/keys.ts';

/** The ARNs of the resources that functions use. */
export interface Resources {
  readonly tableArn: string;
  readonly hashSecretArn: string;
  readonly providerSecretArn: string;
  /** The signing keys that code in service may use: the published ones, and the retired ones. */
  readonly signingKeyArns: readonly string[];
}

export const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

/**
 * Grants each action on the items whose partition keys begin with one of its prefixes. A BatchGetItem is allowed only if every key of
 * the request does, so one statement holds all prefixes of an action. `ForAllValues` is also true for a request without partition
 * keys; the `Null` condition denies that one. An update with a list of attributes has a statement of its own.
 */
const onTable = (table: TablePermissions, { updates = {} }: Permissions, { tableArn }: Resources) => {
  const statement = (action: TableAction, prefixes: readonly string[], attributes?: readonly string[]) =>
    new PolicyStatement({
      actions: [`dynamodb:${action}`],
      resources: [tableArn],
      conditions: {
        'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': prefixes.map((prefix) => `${prefix}*`) },
        ...(attributes && { 'ForAllValues:StringEquals': { 'dynamodb:Attributes': [...attributes] } }),
        Null: { 'dynamodb:LeadingKeys': 'false' },
      },
    });
  const pairs = (Object.keys(table) as ItemPrefix[]).flatMap((prefix) =>
    (table[prefix] ?? []).map((action) => ({
      action,
      prefix,
      attributes: action === 'UpdateItem' ? updates[prefix] : undefined,
    })),
  );
  const others = Map.groupBy(
    pairs.filter(({ attributes }) => attributes === undefined),
    ({ action }) => action,
  );
  return [
    ...pairs.flatMap(({ action, prefix, attributes }) =>
      attributes === undefined ? [] : [statement(action, [prefix], attributes)],
    ),
    ...[...others].map(([action, granted]) =>
      statement(
        action,
        granted.map(({ prefix }) => prefix),
      ),
    ),
  ];
};

/**
 * Grants the same on every key. A role changes before its function, and the version that still serves signs with the key that was first
 * before: docs/contributors/adr/0014-grants-outlive-code.md.
 */
const onSigningKeys = (use: 'sign' | 'publish', { signingKeyArns }: Resources): PolicyStatement =>
  allow(['kms:GetPublicKey', ...(use === 'sign' ? ['kms:Sign'] : [])], signingKeyArns);

/** Returns the policy statements for a function's permissions. They name every action and every resource. */
export const grantsOf = (permissions: Permissions, resources: Resources): readonly PolicyStatement[] => [
  ...(permissions.table ? onTable(permissions.table, permissions, resources) : []),
  ...(permissions.hashes ? [allow(['secretsmanager:GetSecretValue'], [resources.hashSecretArn])] : []),
  ...(permissions.identityRegistry || permissions.sms
    ? [allow(['secretsmanager:GetSecretValue'], [resources.providerSecretArn])]
    : []),
  ...(permissions.signingKey ? [onSigningKeys(permissions.signingKey, resources)] : []),
];

/** The environment variables that a deployed function can have. */
export type DeployedVariable = Exclude<VariableName, 'DYNAMODB_ENDPOINT' | 'BASE_URL'>;

/** The environment variables of the authorizer, which has no row in the route table. */
export const AUTHORIZER_VARIABLES: readonly DeployedVariable[] = [
  'TABLE_NAME',
  'KEY_PREFIX',
  'METRIC_NAMESPACE',
];

/** Returns the environment variables of a row's function: those for its permissions, its access and its log. */
export const variablesOf = ({
  access,
  permissions,
}: Pick<Route, 'access' | 'permissions'>): readonly DeployedVariable[] => [
  ...(permissionsOf({ access, permissions }).table ? (['TABLE_NAME'] as const) : []),
  ...(permissions.hashes ? (['HASH_SECRET'] as const) : []),
  ...(permissions.identityRegistry || permissions.sms ? (['PROVIDER_SECRET', 'KEY_PREFIX'] as const) : []),
  ...(permissions.identityRegistry ? (['IDENTITY_PROVIDERS', 'PAID_CHECKS_PER_DAY'] as const) : []),
  ...(permissions.identityProviders ? (['IDENTITY_PROVIDERS'] as const) : []),
  ...(permissions.sms ? (['SMS_PROVIDERS', 'SMS_PER_DAY'] as const) : []),
  ...(permissions.smsProviders ? (['SMS_PROVIDERS', 'KEY_PREFIX'] as const) : []),
  ...(permissions.signingKey ? (['SIGNING_KEYS'] as const) : []),
  ...(permissions.tokenIssuer ? (['TOKEN_ISSUERS'] as const) : []),
  ...(permissions.newSecrets ? (['KEY_PREFIX'] as const) : []),
  ...(permissions.release ? (['RELEASE_VERSION', 'RELEASE_COMMIT'] as const) : []),
  ...(permissions.support ? (['SUPPORT_EMAIL', 'STATUS_URL'] as const) : []),
  ...(access.by === 'otp' ? (['OTP_ACCESS'] as const) : []),
  'METRIC_NAMESPACE',
];

/** Returns whether a function calls providers and so uses the fixed address of `staticEgress`. */
export const callsProviders = ({ permissions }: Pick<Route, 'permissions'>): boolean =>
  permissions.identityRegistry === true || permissions.sms === true;
