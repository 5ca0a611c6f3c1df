import { planItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import { KEY_LIMIT_NAMES, PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import type { Route } from '#shared/route.ts';
import type { SchemaObject } from './json-schema.ts';
import { EXAMPLE_REQUEST_ID } from './problem-schemas.ts';

interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
}

export type HeaderObjects = Readonly<Record<string, HeaderObject | { readonly $ref: string }>>;

const names = [...PLAN_NAMES, ...KEY_LIMIT_NAMES].join('|');
const example = rateLimitHeaders([planItem('free', PLANS.free.requestsPerMinute - 1, 42)]);

/** A list of items, one per limit. */
const listOf = (item: string): string => `^${item}(, ${item})*$`;

/** The headers that more than one response carries. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request. Quote it if you write to us.',
    required: true,
    schema: { type: 'string', minLength: 1, example: EXAMPLE_REQUEST_ID },
  },
  'Cache-Control': {
    description: 'Nothing under /v1 may be kept by a cache.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
  'RateLimit-Policy': {
    description:
      'The limit of your plan: q requests in w seconds (draft-ietf-httpapi-ratelimit-headers). Absent if the rate limiter could not be reached.',
    schema: {
      type: 'string',
      pattern: listOf(`"(${names})";q=\\d+;w=\\d+`),
      example: example['RateLimit-Policy'],
    },
  },
  RateLimit: {
    description: 'Where you stand: r requests left, t seconds until the next window.',
    schema: {
      type: 'string',
      pattern: listOf(`"(${names})";r=\\d+;t=\\d+`),
      example: example.RateLimit,
    },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next try.',
    required: true,
    schema: { type: 'integer', minimum: 1, example: 30 },
  },
} as const satisfies Record<string, HeaderObject>;

type HeaderName = keyof typeof HEADERS;

const SAYS_WHEN: readonly number[] = [429, 503];
/** Answered before the request is counted. */
const UNCOUNTED: readonly number[] = [401, 403];

const sharedHeaders = (route: Route, status: number): readonly HeaderName[] => [
  'X-Request-Id',
  ...(route.path.startsWith('/v1/') ? (['Cache-Control'] as const) : []),
  ...(route.access.by === 'public' || UNCOUNTED.includes(status)
    ? []
    : (['RateLimit-Policy', 'RateLimit'] as const)),
  ...(SAYS_WHEN.includes(status) ? (['Retry-After'] as const) : []),
];

/** The headers of one response of a row. */
export const headersOf = (route: Route, status: number): HeaderObjects => ({
  ...Object.fromEntries(
    sharedHeaders(route, status).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  ),
  ...Object.fromEntries(
    Object.entries(route.responses[status]?.headers ?? {}).map(([name, description]) => [
      name,
      { description, schema: { type: 'string' } },
    ]),
  ),
});
