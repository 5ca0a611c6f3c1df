import type { VariableName } from '#shared/env.ts';
import { permissionsOf, type Route } from '#shared/route.ts';

/** The environment variables that a deployed function can have. */
export type DeployedVariable = Exclude<VariableName, 'DYNAMODB_ENDPOINT'>;

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
  ...(permissions.sms ? (['SMS_PROVIDERS', 'SMS_PER_DAY'] as const) : []),
  ...(permissions.signingKey ? (['SIGNING_KEYS'] as const) : []),
  ...(permissions.tokenIssuer ? (['TOKEN_ISSUER'] as const) : []),
  ...(permissions.newSecrets ? (['KEY_PREFIX'] as const) : []),
  ...(permissions.release ? (['RELEASE_VERSION', 'RELEASE_COMMIT'] as const) : []),
  ...(access.by === 'otp' ? (['OTP_ACCESS'] as const) : []),
  'METRIC_NAMESPACE',
];

/** Returns whether a function calls providers and so uses the fixed address of `staticEgress`. */
export const callsProviders = ({ permissions }: Pick<Route, 'permissions'>): boolean =>
  permissions.identityRegistry === true || permissions.sms === true;
