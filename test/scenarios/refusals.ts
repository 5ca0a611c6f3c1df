import { newApiKey } from '#shared/api-keys/secret.ts';
import { type Route, requiresKey, scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { call, expectProblem, type Reply, withoutRequestId } from './call.ts';
import { itWith, type ScenarioOptions } from './target.ts';

const keyRows = allRoutes.filter((route) => requiresKey(route, 'api-key'));
const publicRows = allRoutes.filter((route) => route.access.by === 'public' && !route.path.includes('{'));

/** An invalid body where the row has one: the key and the path are checked before it. */
const bodyFor = (route: Route) => (route.body === undefined ? {} : { body: {} });

/** The checks before an operation: path, key and scope, and the common headers. */
export const refusalScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options);
  const gatewayMade = itWith(options, 'gateway problem bodies');
  const enforced = itWith(options, 'gateway problem bodies', 'exact key enforcement');

  describe('a request without a valid key', () => {
    enforced('is refused by every operation with the same bytes for every kind of invalid key', async () => {
      const bad = [undefined, '', 'x', newApiKey('blk_test_')];
      const replies: Reply[] = [];
      for (const route of keyRows) {
        const request = { method: route.method, ...bodyFor(route) };
        const sent = bad.map((key) =>
          call(target(), route.path, key === undefined ? request : { ...request, key }),
        );
        replies.push(...(await Promise.all(sent)));
      }
      for (const reply of replies) {
        expectProblem(reply, 'invalid_api_key');
        expect(reply.headers.get('cache-control')).toBe('no-store');
        expect(reply.headers.get('ratelimit')).toBeNull();
      }
      expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
      expect(new Set(replies.map(({ headers }) => headers.get('x-request-id'))).size).toBe(replies.length);
    });
  });

  describe('a key without the scope', () => {
    gatewayMade('is refused before its body is read', async () => {
      const { read_only, write_only, app } = target().keys;
      const withoutScope = keyRows
        .filter((route) => scopeOf(route) !== undefined)
        .map((route) => {
          const key = route.access.by === 'buyer' ? read_only : app;
          return call(target(), route.path, { method: route.method, ...bodyFor(route), key });
        });
      const replies: Reply[] = await Promise.all([
        ...withoutScope,
        call(target(), '/v1/users', { key: read_only, text: 'no JSON' }),
        call(target(), '/v1/users?page=x', { key: write_only }),
      ]);
      for (const reply of replies) {
        expectProblem(reply, 'insufficient_scope');
        expect(reply.headers.get('cache-control')).toBe('no-store');
      }
    });
  });

  describe('an unknown path or method', () => {
    for (const [method, path] of [
      ['POST', '/'],
      ['PUT', '/v1/users'],
      ['GET', '/v1'],
      ['GET', '/v1//users'],
      ['GET', '/V1/users'],
      ['GET', '/v1/users%zz'],
    ] as const) {
      gatewayMade(`returns not_found: ${method} ${path}`, async () => {
        expectProblem(await call(target(), path, { method }), 'not_found');
      });
    }

    gatewayMade('returns 404 without a body to HEAD', async () => {
      const reply = await call(target(), '/v1/users', { method: 'HEAD' });
      expect(reply.status).toBe(404);
      expect(reply.headers.get('x-request-id')).not.toBeNull();
    });
  });

  describe('a public operation', () => {
    for (const { name, path, responses } of publicRows) {
      const success = Number(Object.keys(responses)[0]);
      scenario(`${name} returns ${success} without a key and with a wrong one`, async () => {
        const replies = await Promise.all([call(target(), path), call(target(), path, { key: 'x' })]);
        for (const reply of replies) {
          expect(reply.status).toBe(success);
          expect(reply.headers.get('x-request-id')).not.toBeNull();
        }
      });
    }
  });
};
