import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { AUTHORIZER_PERMISSIONS } from '#shared/api-keys/api-key-item.ts';
import { permissionsOf, type Route } from '#shared/route.ts';
import { ApiFunction, type ApiFunctionProps, type FunctionDefaults } from './api-function.ts';
import type { Bundles } from './bundling.ts';
import type { Config } from './config.ts';
import type { DataStack } from './data-stack.ts';
import {
  AUTHORIZER_VARIABLES,
  callsProviders,
  type DeployedVariable,
  grantsOf,
  type Resources,
  variablesOf,
} from './grants.ts';
import { metricNamespaceOf } from './metrics.ts';
import type { Release } from './release.ts';
import type { StaticEgress } from './static-egress.ts';

/** What distinguishes one function of the service from the others. */
interface FunctionKind extends Omit<ApiFunctionProps, keyof FunctionDefaults | 'codeFolder' | 'environment'> {
  readonly variables: readonly DeployedVariable[];
}

interface ServiceParts {
  readonly config: Config;
  readonly bundles: Bundles;
  readonly data: DataStack;
  readonly release: Release;
  readonly defaults: FunctionDefaults;
  readonly egress: StaticEgress | undefined;
  readonly issuers: readonly string[];
}

/** Returns the value of every variable in this stage; undefined for a ceiling that is off. */
const environmentOf = ({
  config,
  data,
  release,
  issuers,
}: ServiceParts): Readonly<Record<DeployedVariable, string | undefined>> => ({
  TABLE_NAME: data.table.tableName,
  HASH_SECRET: data.hashSecret.secretArn,
  PROVIDER_SECRET: config.providers.secretName,
  IDENTITY_PROVIDERS: config.providers.identityRegistry.join(','),
  SMS_PROVIDERS: config.providers.sms.join(','),
  // The ARN, as in the grants: an export that a deployed stack imports cannot be dropped, so each key is exported in one form through a rotation.
  SIGNING_KEYS: data.signingKeys.map((key) => key.keyArn).join(','),
  TOKEN_ISSUERS: issuers.join(','),
  KEY_PREFIX: config.keyPrefix,
  OTP_ACCESS: config.otpAccess,
  PAID_CHECKS_PER_DAY: config.spend.paidChecksPerDay?.toString(),
  SMS_PER_DAY: config.spend.smsPerDay?.toString(),
  METRIC_NAMESPACE: metricNamespaceOf(config.stage),
  RELEASE_VERSION: release.version,
  RELEASE_COMMIT: release.commit,
  SUPPORT_EMAIL: config.support?.email,
  STATUS_URL: config.support?.statusUrl ?? undefined,
});

const resourcesOf = (scope: Construct, { config, data }: ServiceParts): Resources => ({
  tableArn: data.table.tableArn,
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

/** Returns the makers of a stage's functions: of one for each route row, and of the authorizer. */
export const serviceFunctions = (scope: Construct, service: ServiceParts) => {
  const { config, bundles, defaults, egress } = service;
  const resources = resourcesOf(scope, service);
  const values = environmentOf(service);
  const reserved: Readonly<Record<string, number | undefined>> = config.reservedConcurrency?.functions ?? {};

  const addFunction = ({ name, variables, ...kind }: FunctionKind): IFunction =>
    new ApiFunction(scope, name, {
      ...defaults,
      ...kind,
      name,
      codeFolder: bundles.folderOf(name),
      environment: Object.fromEntries(
        variables.flatMap((variable) => (values[variable] ? [[variable, values[variable]]] : [])),
      ),
      reservedConcurrency: reserved[name],
    }).lambda;

  return {
    authorizer: (): IFunction =>
      addFunction({
        name: 'authorizer',
        description: 'Authorizes API keys',
        variables: AUTHORIZER_VARIABLES,
        grants: grantsOf(AUTHORIZER_PERMISSIONS, resources),
        memoryMb: 1024,
        timeoutSeconds: 5,
      }),

    ofRoute: (route: Route): IFunction =>
      addFunction({
        ...route,
        description: `${route.method} ${route.path}`,
        variables: variablesOf(route),
        grants: grantsOf(permissionsOf(route), resources),
        egress: callsProviders(route) ? egress : undefined,
      }),
  };
};

export type ServiceFunctions = ReturnType<typeof serviceFunctions>;
