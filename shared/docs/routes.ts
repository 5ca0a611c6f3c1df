import * as v from 'valibot';
import { GUIDE_FILES } from '#shared/docs/files.ts';
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
  headers: { 'Cache-Control': 'public, max-age=300.' },
} as const;

/** The rows of the reference page and the OpenAPI document. */
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
    access: { by: 'public' },
    summary: 'The reference page',
    description: 'The interface as a page for people, with a form to try each operation.',
    responses: { 200: PAGE_RESPONSE },
    check: { expects: 200 },
    permissions: { docs: ['reference'] },
  },
  'get-guide': {
    method: 'GET',
    path: '/docs/{guide+}',
    access: { by: 'public' },
    tag: undefined,
    summary: 'A guide for sellers',
    description: 'A guide of docs/, its Markdown, the page of a key, or a file for programs.',
    pathParameters: { schema: v.strictObject({ guide: v.string() }), problem: 'not_found' },
    responses: {
      200: PAGE_RESPONSE,
      404: {
        description: 'The path has no guide: a page if the request accepts text/html, else a problem.',
        schema: v.string(),
        mediaType: 'text/html; charset=utf-8',
      },
    },
    problems: ['not_found'],
    check: { pathParameters: { guide: 'limits' }, expects: 200 },
    permissions: { docs: GUIDE_FILES },
  },
  'get-root': {
    method: 'GET',
    path: '/',
    access: { by: 'public' },
    tag: undefined,
    summary: 'The way to the reference page',
    description: 'Redirects to /docs.',
    responses: {
      302: { description: 'To /docs.', headers: { Location: 'The path of the reference page.' } },
    },
    check: { expects: 302 },
    permissions: {},
  },
  'get-llms': {
    method: 'GET',
    path: '/llms.txt',
    access: { by: 'public' },
    tag: undefined,
    summary: 'The list of the guides for assistants',
    description: 'The Markdown of each guide, the files for programs and the changelog, as a list of links.',
    responses: {
      200: { ...PAGE_RESPONSE, description: 'The list.', mediaType: 'text/plain; charset=utf-8' },
    },
    check: { expects: 200 },
    permissions: { docs: ['llms.txt'] },
  },
} as const satisfies Record<string, Row>);
