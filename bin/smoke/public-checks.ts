import type { Call } from './call.ts';
import { type Check, ensure, expectHeaders, expectProblem, expectStatus } from './check.ts';

/** Returns the checks that need no key. */
export const publicChecks = (call: Call): readonly Check[] => [
  {
    title: 'GET /.well-known/jwks.json returns a signing key',
    async run() {
      const reply = await call('/.well-known/jwks.json');
      expectStatus(reply, 200);
      expectHeaders(reply, 'cache-control');
      const { keys } = (reply.json() ?? {}) as { keys?: { alg?: string; kid?: string }[] };
      ensure(keys?.[0]?.alg === 'ES256' && keys[0].kid !== undefined, 'the body has no ES256 key');
    },
  },
  {
    title: 'GET /.well-known/openid-configuration names the keys',
    async run() {
      const reply = await call('/.well-known/openid-configuration');
      expectStatus(reply, 200);
      const { jwks_uri } = (reply.json() ?? {}) as { jwks_uri?: string };
      ensure(jwks_uri?.endsWith('/.well-known/jwks.json') ?? false, `jwks_uri is ${jwks_uri}`);
    },
  },
  {
    title: 'GET /v1/openapi.json returns the OpenAPI document',
    async run() {
      const reply = await call('/v1/openapi.json');
      expectStatus(reply, 200);
      const { paths } = (reply.json() ?? {}) as { paths?: object };
      ensure(Object.hasOwn(paths ?? {}, '/v1/users'), 'the document has no path /v1/users');
    },
  },
  {
    title: 'GET /docs returns the reference page',
    async run() {
      const reply = await call('/docs');
      expectStatus(reply, 200);
      const type = reply.headers.get('content-type');
      ensure(type?.startsWith('text/html') ?? false, `the Content-Type is ${type}`);
    },
  },
  {
    title: 'GET /v1/users without a key is 401 invalid_api_key',
    needsGateway: true,
    async run() {
      expectProblem(await call('/v1/users'), 'invalid_api_key');
    },
  },
  {
    title: 'GET /v1/nothing is 404 not_found',
    needsGateway: true,
    async run() {
      expectProblem(await call('/v1/nothing'), 'not_found');
    },
  },
];
