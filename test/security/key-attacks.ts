import { newApiKey } from '#shared/api-keys/secret.ts';
import { requiresKey, scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import { type AttackOptions, attackBy, keyFor, named } from './attack.ts';

/** Requests without a valid key, and with a key of another scope. */
export const keyAttacks = (options: AttackOptions): void => {
  const { target } = options;
  const attack = attackBy(options);
  const keyed = named(allRoutes.filter((route) => requiresKey(route, 'api-key')));
  const open = named(allRoutes.filter(({ access, path }) => access.by === 'public' && !path.includes('{')));
  const scoped = named(allRoutes.filter((route) => scopeOf(route) !== undefined));

  describe('a request without a valid key', () => {
    itForAll(keyed)(
      'returns 401 with one and the same body for every kind of invalid key',
      async (_name, route) => {
        const { professional } = target().keys;
        const flipped = `${professional.slice(0, 20)}${professional[20] === 'a' ? 'b' : 'a'}${professional.slice(21)}`;
        const invalid: (string | undefined)[] = [
          undefined,
          'x',
          'blk_test_',
          professional.slice(0, -1),
          `${professional}0`,
          flipped,
          professional.toUpperCase(),
          newApiKey('blk_test_'),
          newApiKey('blk_live_'),
          `Bearer ${professional}`,
          `${professional},${professional}`,
          'x'.repeat(5000),
          "' OR 1=1 --",
        ];
        const replies: Reply[] = [];
        for (const key of invalid) replies.push(await attack(route, key === undefined ? {} : { key }));
        for (const reply of replies) expectProblem(reply, 'invalid_api_key');
        expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
        expect(new Set(replies.map(({ headers }) => headers.get('cache-control')))).toEqual(
          new Set(['no-store']),
        );
        expect(replies.map(({ headers }) => headers.get('ratelimit'))).toEqual(replies.map(() => null));
      },
    );

    itForAll(keyed)('returns 401 to a key in another header, a cookie or the query', async (_name, route) => {
      const key = keyFor(route, target());
      const headers = { Authorization: `Bearer ${key}`, Cookie: `X-Api-Key=${key}` };
      const query = `?x-api-key=${key}&api_key=${key}`;
      expectProblem(await attack(route, { headers, query }), 'invalid_api_key');
    });

    itForAll(keyed)('returns 401 before it reads the body', async (_name, route) => {
      expectProblem(await attack(route, { text: '{' }), 'invalid_api_key');
    });
  });

  describe('a public operation', () => {
    itForAll(open)('returns its success without a key and with a wrong one', async (_name, route) => {
      const success = Number(Object.keys(route.responses)[0]);
      for (const key of [{}, { key: 'x' }]) expect((await attack(route, key)).status).toBe(success);
    });
  });

  describe('a request with a key of another scope', () => {
    itForAll(scoped)(
      'returns 403 before it reads the body, and does not count the request',
      async (_name, route) => {
        const { write_only, read_only, app } = target().keys;
        const last = route.access.by === 'buyer' ? write_only : app;
        for (const key of [scopeOf(route) === 'users:read' ? write_only : read_only, last]) {
          const reply = await attack(route, { key, text: '{' });
          expectProblem(reply, 'insufficient_scope');
          expect(reply.headers.get('ratelimit')).toBeNull();
          expect(reply.headers.get('cache-control')).toBe('no-store');
        }
      },
    );
  });
};
