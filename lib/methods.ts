import { createHash } from 'node:crypto';
import { Duration, Validations } from 'aws-cdk-lib';
import {
  AuthorizationType,
  AwsIntegration,
  IdentitySource,
  RequestAuthorizer,
  type RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { authorizer } from '#shared/api-keys/authorizer.ts';
import { DECISION_CACHE_SECONDS } from '#shared/api-keys/caller.ts';
import type { OtpAccess } from '#shared/env.ts';
import { forEachPath, isServed, methodsOf, type Route, requiresKey, scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { ServiceFunction } from './service-functions.ts';

/**
 * Returns the construct id of the authorizer: it changes with the operations that require a key and with their scopes. CloudFormation
 * then replaces the authorizer, and the new one starts with an empty cache. A cached policy lists the operations that a key may call.
 * Without this a new operation would return 403 until the cached policies expire. See docs/contributors/adr/0011-authorizer-cache.md.
 */
export const authorizerIdOf = (rows: readonly Route[], otpAccess: OtpAccess): string => {
  const operations = rows
    .filter((route) => requiresKey(route, otpAccess))
    .map((route) => `${route.method} ${route.path} ${scopeOf(route) ?? ''}`)
    .sort();
  return `Authorizer-${createHash('sha256').update(operations.join('\n')).digest('hex').slice(0, 8)}`;
};

const NO_COGNITO = {
  id: 'AwsSolutions-COG4',
  reason: 'The callers are servers of sellers with API keys; Cognito is for people.',
};
const NO_KEY = {
  id: 'AwsSolutions-APIG4',
  reason: 'The route row says that it requires no key; the stage throttles it.',
};

/** Invokes the alias, without a permission of its own: `addMethods` gives each function one. */
const integrationOf = ({ alias }: ServiceFunction): AwsIntegration =>
  new AwsIntegration({
    proxy: true,
    service: 'lambda',
    path: `2015-03-31/functions/${alias.functionArn}/invocations`,
  });

/** Adds a method for each row. A row that requires a key gets the authorizer and a usage plan; every other row is open. */
export const addMethods = (
  api: RestApi,
  otpAccess: OtpAccess,
  functions: readonly ServiceFunction[],
): void => {
  const named = (name: string): ServiceFunction => {
    const found = functions.find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no function ${name}`);
    return found;
  };
  const keyed = {
    authorizer: new RequestAuthorizer(api, authorizerIdOf(allRoutes, otpAccess), {
      handler: named(authorizer.name).alias,
      identitySources: [IdentitySource.header('X-Api-Key')],
      // Revoking a key flushes the cache, so it can be long.
      resultsCacheTtl: Duration.seconds(DECISION_CACHE_SECONDS),
    }),
    authorizationType: AuthorizationType.CUSTOM,
    apiKeyRequired: true,
  };
  const open = { authorizationType: AuthorizationType.NONE, apiKeyRequired: false };
  for (const route of allRoutes.filter((row) => isServed(row, otpAccess))) {
    const isKeyed = requiresKey(route, otpAccess);
    const served = named(route.name);
    for (const { path } of forEachPath([route])) {
      const resource = api.root.resourceForPath(path);
      for (const name of methodsOf(route)) {
        const method = resource.addMethod(name, integrationOf(served), isKeyed ? keyed : open);
        Validations.of(method).acknowledge(NO_COGNITO, ...(isKeyed ? [] : [NO_KEY]));
      }
    }
    // For every method and path, and without the stage: it exists before the deployment that needs it, and after one that did.
    served.alias.addPermission('Gateway', {
      principal: new ServicePrincipal('apigateway.amazonaws.com'),
      sourceArn: api.arnForExecuteApi(),
    });
  }
  // Includes the permissions to invoke the functions: a method must not be served before API Gateway has it.
  api.latestDeployment?.node.addDependency(...functions.map(({ alias }) => alias));
};
