import * as v from 'valibot';
import type { Handle } from '#shared/http/endpoint.ts';
import type { KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { problem } from '#shared/problems.ts';
import type { Route } from '#shared/route.ts';
import { keyedHandler } from '#test/functions/keyed-handler.ts';

const sampleIdSchema = v.pipe(v.string(), v.regex(/^smp_[0-9]{4}$/), v.examples(['smp_0001']));

/** A row as a contributor would add it: a new method, a path parameter, a body and a response without a body. */
export const sampleRoute = {
  name: 'update-sample',
  method: 'PATCH',
  path: '/v1/samples/{id}',
  repeatable: true,
  access: { by: 'key', scope: 'users:write' },
  tag: 'Users',
  summary: 'Update a sample',
  description: 'Changes the note of a sample.',
  pathParameters: { schema: v.strictObject({ id: sampleIdSchema }), problem: 'user_not_found' },
  body: v.strictObject({
    note: v.pipe(
      v.string('Must be a string.'),
      v.regex(/^[a-z ]{1,50}$/, 'Must be letters.'),
      v.examples(['a note']),
    ),
  }),
  responses: { 204: { description: 'The sample is updated.' } },
  problems: ['user_not_found'],
  permissions: { table: { 'USERS#': ['UpdateItem'] }, hashes: true },
  memoryMb: 512,
  timeoutSeconds: 10,
} as const satisfies Route;

/** A row for any valid key, with no permissions but those of its key. */
export const sampleKeyRoute = {
  name: 'get-sample-key',
  method: 'GET',
  path: '/v1/samples',
  repeatable: true,
  access: { by: 'key' },
  tag: 'Users',
  summary: 'Read a sample of the key',
  description: 'What the request knows of its key.',
  responses: {
    200: {
      description: 'The key.',
      schema: v.pipe(
        v.object({
          scopes: v.array(v.string()),
          expires_at: v.nullable(v.number()),
          limit: v.object({
            name: v.string(),
            maximum: v.number(),
            remaining: v.number(),
            resets_in: v.number(),
          }),
        }),
        v.examples([
          {
            scopes: [],
            expires_at: null,
            limit: { name: 'free', maximum: 100, remaining: 57, resets_in: 23 },
          },
        ]),
      ),
    },
  },
  problems: [],
  // It shows the limit of the plan, so its requests are counted first.
  limitsRead: [],
  permissions: {},
  memoryMb: 512,
  timeoutSeconds: 10,
} as const satisfies Route;

/** The scopes are a readonly array: a response is only read. */
const handleKey: Handle<typeof sampleKeyRoute, unknown> = async ({ caller, counted }) => {
  if (counted === undefined) throw problem('service_unavailable');
  const { name, limit: maximum, remaining, resetSeconds } = counted.plan;
  const limit = { name, maximum, remaining, resets_in: resetSeconds };
  return { status: 200, body: { scopes: caller.scopes, expires_at: caller.expiresAt ?? null, limit } };
};

type Counting = Pick<KeyedParts, 'clock' | 'rateLimiter'>;

export const sampleKeyFunction = (deps: Counting) => keyedHandler(sampleKeyRoute, handleKey, deps);

interface SampleDeps {
  /** Seller id and sample id -> note. */
  readonly notes: Map<string, string>;
}

/** The handler reads the typed request: no cast, no event. */
const handle: Handle<typeof sampleRoute, SampleDeps> = async ({ path, body, caller }, { notes }) => {
  notes.set(`${caller.sellerId}/${path.id}`, body.note);
  return { status: 204 };
};

export const sampleFunction = (deps: SampleDeps & Counting) => keyedHandler(sampleRoute, handle, deps);
