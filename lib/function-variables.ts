import type { VariableName } from '#shared/env.ts';
import type { Route } from '#shared/route.ts';

/** The variables that a function in AWS may get. */
export type DeployedVariable = Exclude<VariableName, 'DYNAMODB_ENDPOINT'>;

/** The authorizer stands in no row: it reads a key's record and knows which keys this deployment takes. */
export const AUTHORIZER_VARIABLES: readonly DeployedVariable[] = [
  'TABLE_NAME',
  'KEY_PREFIX',
  'METRIC_NAMESPACE',
];

/** The environment variables of a row's function: those that its needs, its access and its log ask for, and no others. */
export const variablesOf = ({
  access,
  permissions,
}: Pick<Route, 'access' | 'permissions'>): readonly DeployedVariable[] => [
  ...(permissions.table ? (['TABLE_NAME'] as const) : []),
  ...(permissions.hashes ? (['HASH_SECRET'] as const) : []),
  ...(permissions.identityRegistry || permissions.sms ? (['PROVIDER_SECRET'] as const) : []),
  ...(permissions.identityRegistry ? (['IDENTITY_PROVIDERS'] as const) : []),
  ...(permissions.sms ? (['SMS_PROVIDERS'] as const) : []),
  ...(permissions.signingKey ? (['SIGNING_KEYS'] as const) : []),
  ...(permissions.tokenIssuer ? (['TOKEN_ISSUER'] as const) : []),
  ...(access.by === 'otp' ? (['OTP_ACCESS'] as const) : []),
  'METRIC_NAMESPACE',
];

/** Whether a function calls providers, and so permissions the fixed address that they allow-list. */
export const callsProviders = ({ permissions }: Pick<Route, 'permissions'>): boolean =>
  permissions.identityRegistry === true || permissions.sms === true;
