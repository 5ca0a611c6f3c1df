import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';
import { call, expectProblem, type Reply, withoutRequestId } from '#test/scenarios/call.ts';
import { type AttackOptions, attackBy, keyFor, MARKER, named, pathOf } from './attack.ts';
import { validBody } from './valid-request.ts';

/** Encoded values of a path parameter. None names a resource. */
const HOSTILE_PATHS: readonly string[] = [
  '..%2f..%2fetc%2fpasswd',
  '%00',
  "'%20OR%201=1",
  '__proto__',
  'constructor',
  '%7Bid%7D',
  '*',
  'usr_%F0%9F%92%A3',
  'usr_0000000000000000000000',
  'x'.repeat(5000),
];

/** Hostile values of a path parameter. */
export const pathAttacks = (options: AttackOptions): void => {
  const { target } = options;
  const attack = attackBy(options);
  const rows = named(allRoutes.filter(({ path }) => path.includes('{')));

  describe('a hostile path parameter', () => {
    itForAll(rows)(
      'gets one and the same answer for every value, 404 or that there is no such thing now, which echoes none',
      async (_name, route) => {
        const code = route.pathParameters?.problem ?? 'not_found';
        const replies: Reply[] = [];
        for (const value of HOSTILE_PATHS)
          replies.push(await attack(route, { key: keyFor(route, target()), value }));
        if (route.access.by === 'buyer') {
          expect(replies.map(({ status, text }) => [status, text])).toEqual(replies.map(() => [204, '']));
          return;
        }
        for (const reply of replies) expectProblem(reply, code);
        expect(new Set(replies.map(withoutRequestId)).size).toBe(1);
      },
    );
  });
};

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'];

/** Whether a spelling names an operation whose id may be any text. */
const isId = ({ access, path }: Route, spelling: string): boolean =>
  access.by === 'buyer' && /\{/.test(path) && /(?:;a=b|%00)$/.test(spelling);

/** Other methods, other spellings of the path, chosen request ids, and responses that name internals. */
export const disguiseAttacks = (options: AttackOptions): void => {
  const { target } = options;
  const attack = attackBy(options);

  describe('an operation', () => {
    const rows = named(allRoutes);

    itForAll(rows)('returns 404 to methods that its path does not support', async (_name, route) => {
      const supported: readonly string[] = allRoutes
        .filter(({ path }) => path === route.path)
        .flatMap(({ method, access }) =>
          method === 'GET' && access.by === 'public' ? ['GET', 'HEAD'] : [method],
        );
      for (const method of METHODS.filter((one) => !supported.includes(one))) {
        const reply = await call(target(), pathOf(route), { method });
        // A response to HEAD has no body.
        if (method === 'HEAD') expect(reply).toMatchObject({ status: 404, text: '' });
        else expectProblem(reply, 'not_found');
      }
    });

    itForAll(rows)('returns 404 to every other spelling of its path', async (_name, route) => {
      const path = pathOf(route);
      const spellings = [`/${path}`, path.toUpperCase(), `${path};a=b`, `${path}%00`, `${path}/..%2f`];
      // `/` has no letters.
      for (const spelling of spellings.filter((other) => other !== path)) {
        const reply = await call(target(), spelling, {
          method: route.method,
          key: keyFor(route, target()),
          ...(route.body === undefined ? {} : { body: validBody(route) }),
        });
        // Without a token, what still names an operation for buyers is refused.
        expect([spelling, reply.status]).toEqual([spelling, isId(route, spelling) ? 401 : 404]);
      }
    });

    itForAll(rows)('does not take a request id from the caller', async (_name, route) => {
      const headers = {
        'X-Request-Id': MARKER,
        'X-Amzn-Requestid': MARKER,
        'X-Amzn-Trace-Id': MARKER,
      };
      const ids = [await attack(route, { headers }), await attack(route, { headers })].map((reply) =>
        reply.headers.get('x-request-id'),
      );
      expect(ids).not.toContain(MARKER);
      expect(ids[0]).not.toBe(ids[1]);
    });

    itForAll(rows)('names no internals in headers or body', async (_name, route) => {
      const reply = await attack(route, { key: keyFor(route, target()), query: '?x=1' });
      expect([...reply.headers.keys()].filter((name) => /powered|server|amz/.test(name))).toEqual([]);
      expect(reply.text).not.toMatch(/dynamo|lambda|\bat \S+:\d+|node_modules/i);
    });
  });
};
