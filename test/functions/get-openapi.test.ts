import { buildDocument } from '#bin/openapi/document.ts';
import { type GetOpenapiDeps, handle } from '#functions/get-openapi.ts';
import { routes } from '#shared/routes.ts';
import { functionUnderTest } from './harness.ts';

const getOpenapi = () =>
  functionUnderTest<(typeof routes)['get-openapi'], GetOpenapiDeps>(
    routes['get-openapi'],
    handle,
    undefined as never,
    { document: buildDocument() },
  );

describe('200', () => {
  it('returns the whole document without a key and forbids caching', async () => {
    const { status, json, headers } = await getOpenapi().call({ authorizer: null });
    expect([status, headers['Content-Type'], headers['Cache-Control']]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(json).toEqual(JSON.parse(JSON.stringify(buildDocument())));
  });
});

describe('422', () => {
  it('rejects any query parameter', async () => {
    const { status } = await getOpenapi().call({ authorizer: null, query: { format: 'yaml' } });
    expect(status).toBe(422);
  });
});
