import * as v from 'valibot';
import type { Route } from '#shared/route.ts';
import { DOCS_PAGE_FILES } from './files.ts';
import { openApiDocumentSchema } from './openapi-schema.ts';

/** The rows of the reference page and the OpenAPI document. */
export const docsPageRoutes = {
  'get-openapi': {
    name: 'get-openapi',
    method: 'GET',
    path: '/v1/openapi.json',
    access: { by: 'public' },
    tag: 'Documentation',
    summary: 'This document',
    description: 'The interface as an OpenAPI 3.0 document.',
    responses: { 200: { description: 'The document.', schema: openApiDocumentSchema } },
    problems: [],
    permissions: { release: true },
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'Sellers cannot read the OpenAPI document, and the reference page stays empty.',
  },
  'get-docs': {
    name: 'get-docs',
    method: 'GET',
    path: '/docs',
    access: { by: 'public' },
    tag: 'Documentation',
    summary: 'The reference page',
    description: 'The interface as a page for people, with a form to try each operation.',
    responses: {
      200: {
        description: 'The page.',
        schema: v.string(),
        mediaType: 'text/html; charset=utf-8',
        headers: { 'Cache-Control': 'public, max-age=300.' },
      },
    },
    problems: [],
    permissions: {},
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'Sellers cannot open the reference page.',
  },
  'get-docs-asset': {
    name: 'get-docs-asset',
    method: 'GET',
    path: '/docs/{file}',
    access: { by: 'public' },
    summary: 'A script or style sheet of the reference page',
    description: 'The name includes the version, so a browser may cache it for a year.',
    pathParameters: { schema: v.strictObject({ file: v.string() }), problem: 'not_found' },
    responses: {
      200: {
        description: 'The file.',
        schema: v.string(),
        mediaType: 'text/plain; charset=utf-8',
        headers: { 'Cache-Control': 'public, max-age=31536000, immutable.' },
      },
    },
    problems: ['not_found'],
    permissions: { files: DOCS_PAGE_FILES },
    memoryMb: 512,
    timeoutSeconds: 10,
    impact: 'The reference page loads without its renderer.',
  },
} as const satisfies Record<string, Route>;
