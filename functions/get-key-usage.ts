import { apiKeyRoutes } from '#shared/api-keys/routes.ts';
import type { Handle } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedEndpoint } from '#shared/http/keyed-endpoint.ts';
import { useReader } from '#shared/rate-limits/use-history.ts';

const route = apiKeyRoutes['get-key-usage'];

export const handle: Handle<typeof route, ReturnType<typeof build>> = async (
  { query, caller },
  { readUse, clock },
) => ({ status: 200, body: await readUse(caller.keyId, query.days, clock()) });

export const build = ({ table, clock }: KeyedParts) => ({ readUse: useReader(table), clock });

export const handler = keyedEndpoint(route, build, handle);
