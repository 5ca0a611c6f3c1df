import type { Alias, Function as LambdaFunction } from 'aws-cdk-lib/aws-lambda';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { isServed } from '#shared/route.ts';
import { allFunctions } from '#shared/routes.ts';
import { ApiFunction, type ApiFunctionProps, type FunctionDefaults } from './api-function.ts';
import type { Bundles } from './bundling.ts';
import {
  callsProviders,
  environmentOf,
  grantsOf,
  type Resources,
  resourcesOf,
  type Settings,
} from './permissions.ts';
import type { StaticEgress } from './static-egress.ts';

interface ServiceParts extends Settings {
  readonly bundles: Bundles;
  readonly defaults: FunctionDefaults;
  readonly egress: StaticEgress | undefined;
}

/** A function behind API Gateway. `name` is that of its row, of its file in functions/ and of its metrics. */
export interface ServiceFunction {
  readonly name: string;
  readonly lambda: LambdaFunction;
  /** What API Gateway invokes. */
  readonly alias: Alias;
  readonly logGroup: ILogGroup;
}

/** API Gateway stops waiting after 29 seconds; a function must respond before that. */
const MAX_TIMEOUT_SECONDS = 28;

/** What distinguishes one function of the service from the others. Throws for a timeout above 28 seconds. */
export const functionOf = (
  row: (typeof allFunctions)[number],
  resources: Resources,
  egress: StaticEgress | undefined,
): Pick<ApiFunctionProps, 'description' | 'grants' | 'egress' | 'memoryMb' | 'timeoutSeconds'> => {
  const { name, memoryMb, timeoutSeconds } = row;
  if (timeoutSeconds > MAX_TIMEOUT_SECONDS) {
    throw new Error(
      `${name}: a timeout of ${timeoutSeconds} s is longer than the ${MAX_TIMEOUT_SECONDS} s that API Gateway allows`,
    );
  }
  return {
    description: 'path' in row ? `${row.method} ${row.path}` : row.summary,
    memoryMb,
    timeoutSeconds,
    grants: grantsOf(row, resources),
    egress: callsProviders(row) ? egress : undefined,
  };
};

/**
 * Read by Node: the threads of a function that calls providers. Half of them look up names, and a lookup that no DNS server answers keeps its
 * thread. With the default of four, the two checks of one link would do so, and the next provider could not be looked up. Until its circuits
 * open, after five failures of each check, a provider can keep ten.
 */
const PROVIDER_ENVIRONMENT = { UV_THREADPOOL_SIZE: '32' };

/** Adds every function that API Gateway invokes in a stage. */
export const addServiceFunctions = (scope: Construct, service: ServiceParts): readonly ServiceFunction[] => {
  const { config, bundles, defaults, egress } = service;
  const resources = resourcesOf(scope, service);
  const reserved: Readonly<Record<string, number | undefined>> = config.reservedConcurrency?.functions ?? {};
  const rows = allFunctions.filter((row) => isServed(row, config.otpAccess));
  return rows.map((row) => {
    const added = new ApiFunction(scope, row.name, {
      ...defaults,
      ...functionOf(row, resources, egress),
      codeFolder: bundles.folderOf(row.name),
      environment: { ...environmentOf(row, service), ...(callsProviders(row) && PROVIDER_ENVIRONMENT) },
      reservedConcurrency: reserved[row.name],
    });
    return { name: row.name, lambda: added.lambda, alias: added.addAlias(), logGroup: added.logGroup };
  });
};
