import * as v from 'valibot';
import { type Route, TAGS } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { SCOPES } from '#shared/scopes.ts';
import { description } from './description.ts';
import { HEADERS } from './headers.ts';
import { type Definitions, inputSchema, outputSchemas, type SchemaObject } from './json-schema.ts';
import { withMarkdown } from './markdown.ts';
import { bodyComponentOf, operationOf, type Shared } from './operation-object.ts';
import { problemSchemas } from './problem-schemas.ts';

/**
 * The version of the interface. A change of wording raises the patch number, an addition the minor number. A change that breaks
 * a caller raises the major number and the path prefix; `npm run openapi:check` enforces that.
 */
const INTERFACE_VERSION = '1.1.0';

/** The schemas of responses that have a title, which becomes the name of their component. */
const definitionsOf = (routes: readonly Route[]): Definitions => {
  const responses = routes.flatMap((route) => Object.values(route.responses));
  const schemas = responses.flatMap(({ schema }) => schema ?? []);
  return Object.fromEntries(schemas.map((schema) => [v.getTitle(schema), schema]).filter(([title]) => title));
};

const bodiesOf = (routes: readonly Route[]): Readonly<Record<string, SchemaObject>> =>
  Object.fromEntries(
    routes.flatMap((route) =>
      route.body === undefined ? [] : [[bodyComponentOf(route), inputSchema(route.body)] as const],
    ),
  );

const pathsOf = (routes: readonly Route[], shared: Shared) =>
  Object.fromEntries(
    [...Map.groupBy(routes, ({ path }) => path)].map(([path, rows]) => [
      path,
      Object.fromEntries(rows.map((route) => [route.method.toLowerCase(), operationOf(route, shared)])),
    ]),
  );

const API_KEY_SCHEME = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Api-Key',
  description: `Your secret key: \`blk_live_…\` (\`blk_test_…\` outside production). Scopes: ${SCOPES.map((scope) => `\`${scope}\``).join(', ')}.`,
} as const;

const TOKEN_SCHEME = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'JWT',
  description:
    'The access token of a buyer who signed in with a key of your account, from POST /v1/auth/otp/verify.',
} as const;

/** Builds the OpenAPI 3.0 document from the route table. */
export const buildDocument = () => {
  const definitions = definitionsOf(allRoutes);
  const schemas = {
    ...bodiesOf(allRoutes),
    ...outputSchemas(definitions),
    ...problemSchemas(),
  };
  return withMarkdown({
    openapi: '3.0.3',
    info: {
      title: 'Buyer Linking',
      version: INTERFACE_VERSION,
      description: description(),
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    // Relative to the URL of this document, so that it is right at every address and under every stage.
    servers: [{ url: '..', description: 'The deployment that serves this document.' }],
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths: pathsOf(allRoutes, { definitions, schemas }),
    components: {
      securitySchemes: { ApiKey: API_KEY_SCHEME, AccessToken: TOKEN_SCHEME },
      headers: HEADERS,
      schemas,
    },
  });
};
