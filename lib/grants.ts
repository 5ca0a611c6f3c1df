import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { AUTHORIZER_PERMISSIONS, AUTHORIZER_WRITES } from '#shared/api-keys/authorizer-permissions.ts';
import type { Permissions, TableAction, TablePermissions } from '#shared/route.ts';

/** What the functions use, by ARN. */
export interface Resources {
  readonly tableArn: string;
  readonly hashSecretArn: string;
  readonly providerSecretArn: string;
  /** Of the signing keys, the one that signs first. */
  readonly signingKeyArns: readonly [string, ...string[]];
}

const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

const onTable = (table: TablePermissions, { tableArn }: Resources): PolicyStatement[] =>
  Object.entries(table).map(
    ([prefix, actions]: [string, readonly TableAction[]]) =>
      new PolicyStatement({
        actions: actions.map((action) => `dynamodb:${action}`),
        resources: [tableArn],
        conditions: { 'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': [`${prefix}*`] } },
      }),
  );

const onSigningKeys = (use: 'sign' | 'publish', { signingKeyArns }: Resources): PolicyStatement[] => [
  allow(['kms:GetPublicKey'], signingKeyArns),
  ...(use === 'sign' ? [allow(['kms:Sign'], [signingKeyArns[0]])] : []),
];

/** What a function with these needs may do, and nothing besides: verbs by name, on resources by name. */
export const grantsOf = (permissions: Permissions, resources: Resources): readonly PolicyStatement[] => [
  ...(permissions.table ? onTable(permissions.table, resources) : []),
  ...(permissions.hashes ? [allow(['secretsmanager:GetSecretValue'], [resources.hashSecretArn])] : []),
  ...(permissions.identityRegistry || permissions.sms
    ? [allow(['secretsmanager:GetSecretValue'], [resources.providerSecretArn])]
    : []),
  ...(permissions.signingKey ? onSigningKeys(permissions.signingKey, resources) : []),
];

/**
 * The authorizer may read the records of secrets and, of them, write the day of use. The condition names every attribute that its
 * expressions may name, so no error and no intruder in it can change whom a key belongs to or what it may do.
 */
export const authorizerGrants = ({ tableArn }: Pick<Resources, 'tableArn'>): readonly PolicyStatement[] => {
  const { partitionKeyPrefix, attributes, action } = AUTHORIZER_WRITES;
  const onlySecrets = { 'dynamodb:LeadingKeys': [`${partitionKeyPrefix}*`] };
  return [
    new PolicyStatement({
      actions: AUTHORIZER_PERMISSIONS.table['SECRET#'].map((verb) => `dynamodb:${verb}`),
      resources: [tableArn],
      conditions: { 'ForAllValues:StringLike': onlySecrets },
    }),
    new PolicyStatement({
      actions: [`dynamodb:${action}`],
      resources: [tableArn],
      conditions: {
        'ForAllValues:StringLike': onlySecrets,
        'ForAllValues:StringEquals': { 'dynamodb:Attributes': [...attributes] },
        // ALL_OLD and ALL_NEW would read every attribute back. NONE is what an update asks for if it says nothing.
        StringEqualsIfExists: { 'dynamodb:ReturnValues': ['NONE', 'UPDATED_OLD', 'UPDATED_NEW'] },
      },
    }),
  ];
};
