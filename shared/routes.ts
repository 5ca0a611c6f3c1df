/** The route table. Stacks, policy, OpenAPI, the local gateway and the security suite are built from it. It loads without SDK. */
import { accessTokenRoutes } from '#shared/access-tokens/routes.ts';
import { authorizer } from '#shared/api-keys/authorizer.ts';
import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import { buyerRoutes } from '#shared/buyers/routes.ts';
import { docsRoutes } from '#shared/docs/routes.ts';
import { eventRoutes } from '#shared/events/routes.ts';
import { oneTimeCodeRoutes } from '#shared/one-time-codes/routes.ts';
import type { FunctionRow, KeyCheck, Route } from '#shared/route.ts';
import { userRoutes } from '#shared/users/routes.ts';

export const routes = {
  ...userRoutes,
  ...eventRoutes,
  ...apiKeyRoutes,
  ...oneTimeCodeRoutes,
  ...buyerRoutes,
  ...accessTokenRoutes,
  ...docsRoutes,
} as const;

export type RouteName = keyof typeof routes;

export const allRoutes: readonly Route[] = Object.values(routes);

/** Every function that API Gateway invokes. */
export const allFunctions: readonly (FunctionRow<KeyCheck> | Route)[] = [authorizer, ...allRoutes];

export type FunctionName = RouteName | (typeof authorizer)['name'];
