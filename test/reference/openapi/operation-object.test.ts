import * as v from 'valibot';
import { operationOf } from '#reference/openapi/operation-object.ts';
import type { Route } from '#shared/route.ts';

const id = v.pipe(
  v.string(),
  v.regex(/^thg_\w+$/),
  v.description('The id of a thing.'),
  v.examples(['thg_1']),
);

const row: Route = {
  name: 'delete-thing',
  method: 'DELETE',
  path: '/v1/things/{id}',
  repeatable: true,
  access: { by: 'key', scope: 'users:write' },
  tag: 'Users',
  summary: 'Delete a thing',
  description: 'Deletes a thing.',
  pathParameters: { schema: v.strictObject({ id }), problem: 'user_not_found' },
  query: v.strictObject({ note: v.optional(v.pipe(v.string(), v.examples(['x']))) }),
  responses: { 204: { description: 'The thing is deleted.' } },
  problems: ['user_not_found'],
  permissions: {},
  memoryMb: 512,
  timeoutSeconds: 10,
};

describe('the operation of a row', () => {
  const operation = operationOf(row, { definitions: {}, schemas: {} });

  it('has required path parameters before the query parameters', () => {
    expect(operation.parameters).toEqual([
      {
        name: 'id',
        in: 'path',
        required: true,
        description: 'The id of a thing.',
        schema: { type: 'string', pattern: '^thg_\\w+$', example: 'thg_1' },
      },
      expect.objectContaining({ name: 'note', in: 'query', required: false }),
    ]);
  });

  it('has headers and no content for a response without a schema', () => {
    expect(operation.responses[204]).toEqual({
      description: 'The thing is deleted.',
      headers: expect.objectContaining({ 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }),
    });
  });

  it('has no request body if the row has none', () => {
    expect(operation).not.toHaveProperty('requestBody');
  });

  it('states the scope that the key must hold', () => {
    expect(operation).toMatchObject({ 'x-required-scope': 'users:write', security: [{ ApiKey: [] }] });
  });

  it('gives an unknown parameter as the example of a validation error', () => {
    const example = JSON.stringify(operation.responses[422]);
    expect(example).toContain('{"parameter":"sort","detail":"Is not a known parameter."}');
  });
});
