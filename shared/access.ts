/** Apart from the rows: lib/bundling.ts evaluates this module, so that the bundle of the authorizer holds no schemas. */
import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

export const accessRows = allRoutes.map(({ method, path, access }) => ({ method, path, access }));

const operationsOfScopes = [...Map.groupBy(allRoutes, scopeOf)]
  .filter(([scope]) => scope !== undefined)
  .map(([scope, rows]) => `${scope}: ${rows.map(({ method, path }) => `${method} ${path}`).join(', ')}.`);

/** The detail of a refusal by the gateway, which alone answers `insufficient_scope`. */
export const gatewayDetail = (code: ProblemCode): string =>
  [PROBLEMS[code].detail, ...(code === 'insufficient_scope' ? operationsOfScopes : [])].join(' ');
