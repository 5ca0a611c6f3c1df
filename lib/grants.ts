import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { Needs, TableAction } from '#shared/routes.ts';

/** What the functions use, by ARN. */
export interface Resources {
  readonly tableArn: string;
  readonly digestSecretArn: string;
  readonly providerSecretArn: string;
  /** Of the signing keys, the one that signs first. */
  readonly signingKeyArns: readonly [string, ...string[]];
}

const allow = (actions: readonly string[], resources: readonly string[]): PolicyStatement =>
  new PolicyStatement({ actions: [...actions], resources: [...resources] });

const onTable = (actions: readonly TableAction[], { tableArn }: Resources): PolicyStatement =>
  allow(
    actions.map((action) => `dynamodb:${action}`),
    [tableArn],
  );

const onSigningKeys = (use: 'sign' | 'publish', { signingKeyArns }: Resources): PolicyStatement[] => [
  allow(['kms:GetPublicKey'], signingKeyArns),
  ...(use === 'sign' ? [allow(['kms:Sign'], [signingKeyArns[0]])] : []),
];

/** What a function with these needs may do, and nothing besides: verbs by name, on resources by name. */
export const grantsOf = (needs: Needs, resources: Resources): readonly PolicyStatement[] => [
  ...(needs.table ? [onTable(needs.table, resources)] : []),
  ...(needs.digests ? [allow(['secretsmanager:GetSecretValue'], [resources.digestSecretArn])] : []),
  ...(needs.identityRegistry || needs.sms
    ? [allow(['secretsmanager:GetSecretValue'], [resources.providerSecretArn])]
    : []),
  ...(needs.signingKey ? onSigningKeys(needs.signingKey, resources) : []),
];
