import { ArnFormat, Stack } from 'aws-cdk-lib';
import type { Alias, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { AUTHORIZER_PERMISSIONS } from '#shared/api-keys/api-key-item.ts';
import { isServed, permissionsOf, type Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
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
  readonly name: string;
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

/** A function behind API Gateway. `name` is that of its file in functions/, of its route and of its metrics. */
export interface ServiceFunction {
  readonly name: string;
  readonly lambda: LambdaFunction;
  /** What API Gateway invokes. */
  readonly alias: Alias;
  readonly logGroup: ILogGroup;
}

/** API Gateway stops waiting after 29 seconds; a function must respond before that. */
const MAX_TIMEOUT_SECONDS = 28;

const authorizer = (resources: Resources): FunctionKind => ({
  name: 'authorizer',
  description: 'Authorizes API keys',
  variables: AUTHORIZER_VARIABLES,
  grants: grantsOf(AUTHORIZER_PERMISSIONS, resources),
  memoryMb: 1024,
  timeoutSeconds: 5,
});

/** Throws for a timeout above 28 seconds. */
export const functionOf = (
  route: Route,
  resources: Resources,
  egress: StaticEgress | undefined,
): FunctionKind => {
  const { name, timeoutSeconds } = route;
  if (timeoutSeconds > MAX_TIMEOUT_SECONDS) {
    throw new Error(
      `${name}: a timeout of ${timeoutSeconds} s is longer than the ${MAX_TIMEOUT_SECONDS} s that API Gateway allows`,
    );
  }
  return {
    ...route,
    description: `${route.method} ${route.path}`,
    variables: variablesOf(route),
    grants: grantsOf(permissionsOf(route), resources),
    egress: callsProviders(route) ? egress : undefined,
  };
};

/** Adds the functions of a stage: the authorizer, and one for each route row that the stage serves. */
export const addServiceFunctions = (scope: Construct, service: ServiceParts): readonly ServiceFunction[] => {
  const { config, bundles, defaults, egress } = service;
  const resources = resourcesOf(scope, service);
  const values = environmentOf(service);
  const reserved: Readonly<Record<string, number | undefined>> = config.reservedConcurrency?.functions ?? {};
  const rows = allRoutes.filter((row) => isServed(row, config.otpAccess));
  const kinds = [authorizer(resources), ...rows.map((row) => functionOf(row, resources, egress))];
  return kinds.map(({ name, variables, ...kind }) => {
    const added = new ApiFunction(scope, name, {
      ...defaults,
      ...kind,
      codeFolder: bundles.folderOf(name),
      environment: Object.fromEntries(
        variables.flatMap((variable) => (values[variable] ? [[variable, values[variable]]] : [])),
      ),
      reservedConcurrency: reserved[name],
    });
    return { name, lambda: added.lambda, alias: added.addAlias(), logGroup: added.logGroup };
  });
};
