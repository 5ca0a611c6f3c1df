import * as v from 'valibot';
import { endpoint, type Handle } from '#shared/http/endpoint.ts';
import type { EndpointDeps } from '#shared/http/request-scope.ts';
import type { Route } from '#shared/route.ts';

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
  impact: 'Sellers cannot update samples.',
} as const satisfies Route;

export interface SampleDeps extends EndpointDeps {
  /** Seller id and sample id -> note. */
  readonly notes: Map<string, string>;
}

/** The handler reads the typed request: no cast, no event. */
const handle: Handle<typeof sampleRoute, SampleDeps> = async (
  { path, body, caller, withinPlan },
  { notes },
) => {
  await withinPlan;
  notes.set(`${caller.sellerId}/${path.id}`, body.note);
  return { status: 204 };
};

export const sampleFunction = (deps: SampleDeps) => endpoint(sampleRoute, handle, () => deps);
