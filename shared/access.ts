/** Apart from the rows: lib/bundling.ts evaluates this module, so that the bundle of the authorizer holds no schemas. */
import { allRoutes } from '#shared/routes.ts';

export const accessRows = allRoutes.map(({ method, path, access }) => ({ method, path, access }));
