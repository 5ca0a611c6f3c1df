import { EXPIRY_NOTICE_DAYS } from '#shared/api-keys/caller.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { planItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import { KEY_LIMIT_NAMES } from '#shared/rate-limits/key-limits.ts';
import { PLAN_NAMES, PLANS } from '#shared/rate-limits/plans.ts';
import type { Route } from '#shared/route.ts';
import type { SchemaObject } from './json-schema.ts';
import { EXAMPLE_REQUEST_ID, hasRetryAfter } from './problem-schemas.ts';

interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
}

type HeaderObjects = Readonly<Record<string, HeaderObject | { readonly $ref: string }>>;

/** The pattern of a list with one item per limit: the plan's, and any limit of the key that is used up. */
const listOfLimits = (parameters: string): string => {
  const item = `"(${[...PLAN_NAMES, ...KEY_LIMIT_NAMES].join('|')})";${parameters}`;
  return `^${item}(, ${item})*$`;
};

const EXAMPLES = rateLimitHeaders([planItem('free', PLANS.free.requestsPerMinute - 1, 42)]);

/** The headers that more than one response carries. */
export const HEADERS = {
  'X-Request-Id': {
    description: 'The id of this request. Quote it when you report a problem.',
    required: true,
    schema: { type: 'string', minLength: 1, example: EXAMPLE_REQUEST_ID },
  },
  'Cache-Control': {
    description: 'Responses under /v1, and problems, must not be cached.',
    required: true,
    schema: { type: 'string', enum: ['no-store'] },
  },
  'RateLimit-Policy': {
    description:
      'Your limits: `q` requests in `w` seconds (draft-ietf-httpapi-ratelimit-headers). Absent if the rate limiter cannot be reached.',
    schema: {
      type: 'string',
      pattern: listOfLimits('q=[0-9]+;w=[0-9]+'),
      example: EXAMPLES['RateLimit-Policy'],
    },
  },
  RateLimit: {
    description: 'The state of your limits: `r` requests remain, and the next window begins in `t` seconds.',
    schema: { type: 'string', pattern: listOfLimits('r=[0-9]+;t=[0-9]+'), example: EXAMPLES.RateLimit },
  },
  'X-Api-Key-Expires-At': {
    description: `When the secret of this request ends, in the last ${EXPIRY_NOTICE_DAYS} days before that. Absent otherwise.`,
    schema: { type: 'string', format: 'date-time', example: '2026-12-01T00:00:00Z' },
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt.',
    required: true,
    schema: { type: 'integer', minimum: 1, example: 30 },
  },
} as const satisfies Record<string, HeaderObject>;

/** The authorizer rejects requests with these statuses before they are counted, unless they come from a rule of the row. */
const NOT_COUNTED: readonly number[] = [401, 403];

const isCounted = ({ access, problems }: Route, status: number): boolean =>
  access.by !== 'public' &&
  (!NOT_COUNTED.includes(status) || problems.some((code) => PROBLEMS[code].status === status));

/** Returns the headers of one response of a row. */
export const headersOf = (route: Route, status: number): HeaderObjects => {
  const common: (keyof typeof HEADERS)[] = ['X-Request-Id'];
  if (route.path.startsWith('/v1/') || status >= 400) common.push('Cache-Control');
  if (isCounted(route, status)) {
    common.push('RateLimit-Policy', 'RateLimit', 'X-Api-Key-Expires-At');
  }
  if (hasRetryAfter(status)) common.push('Retry-After');
  const own = Object.entries(route.responses[status]?.headers ?? {});
  return Object.fromEntries([
    ...common.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
    ...own.map(([name, description]) => [name, { description, schema: { type: 'string' } }]),
  ]);
};
