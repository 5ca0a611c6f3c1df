import * as v from 'valibot';
import { type Row, routeRows } from '#shared/route.ts';

/** An object of the OpenAPI standard with any further members. */
const open = <Entries extends v.ObjectEntries>(entries: Entries) =>
  v.pipe(v.looseObject(entries), v.metadata({ additionalProperties: true }));

/** An OpenAPI 3.0 document. `npm run openapi:check` validates the rest of it. */
const openApiDocumentSchema = v.pipe(
  open({
    openapi: v.pipe(v.string(), v.examples(['3.0.3'])),
    info: open({
      title: v.pipe(v.string(), v.examples(['Buyer Linking'])),
      version: v.pipe(v.string(), v.examples(['1.0.0'])),
    }),
    paths: open({}),
  }),
  v.title('OpenApiDocument'),
);

const PAGE_RESPONSE = {
  description: 'The page.',
  schema: v.string(),
  mediaType: 'text/html; charset=utf-8',
  headers: { 'Cache-Control': '`no-cache`.' },
} as const;

/** The rows of the OpenAPI document and of the documentation site. */
export const docsRoutes = routeRows('Documentation', {
  'get-openapi': {
    method: 'GET',
    path: '/v1/openapi.json',
    access: { by: 'public' },
    summary: 'The OpenAPI document',
    description: 'The interface as an OpenAPI 3.0 document.',
    responses: { 200: { description: 'The document.', schema: openApiDocumentSchema } },
    check: { expects: 200 },
    permissions: { release: true, support: true },
  },
  'get-docs': {
    method: 'GET',
    path: '/docs',
    otherPaths: ['/docs/{path+}', '/'],
    access: { by: 'public' },
    ignoresQuery: true,
    summary: 'The documentation site',
    description: 'Guides, and a page for each operation with a form to try it.',
    responses: {
      200: PAGE_RESPONSE,
      302: {
        description:
          'To the first page of a folder, or to the address of the page without a slash at its end.',
        headers: { Location: 'The path of the page.' },
      },
      404: {
        description: 'No such page: a page if the request accepts text/html, else a problem.',
        schema: v.string(),
        mediaType: 'text/html; charset=utf-8',
      },
    },
    problems: ['not_found'],
    check: { expects: 200 },
    permissions: { site: true, support: true },
  },
} as const satisfies Record<string, Row>);
