import { router } from '#local/gateway/router.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes, routes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';

const find = router(allRoutes);

describe('router', () => {
  it('finds a page by HEAD', () => {
    expect(find('HEAD', '/docs/limits')).toEqual(find('GET', '/docs/limits'));
    expect(find('HEAD', '/docs')?.route.name).toBe('get-docs');
  });

  itForAll(allRoutes.map((route) => [route.name, route] as const))(
    'finds each row by its method and path',
    (_name, route) => {
      const path = route.path.replaceAll(/\{\w+\+?\}/g, 'value');
      expect(find(route.method, path)?.route.name).toBe(route.name);
    },
  );

  itForAll([
    ['two slashes alone', 'GET', '//'],
    ['two trailing slashes', 'GET', '/v1/users//'],
    ['a doubled slash', 'GET', '//v1/users'],
    ['a doubled slash within', 'GET', '/v1//users'],
    ['another case', 'GET', '/V1/users'],
    ['an escaped letter', 'GET', '/v1/user%73'],
    ['a broken escape', 'GET', '/v1/users%zz'],
    ['a dot segment', 'GET', '/v1/./users'],
    ['a longer path', 'GET', '/v1/users/1/2'],
    ['a shorter path', 'GET', '/v1'],
    ['no path', 'GET', ''],
    ['an absolute URL', 'GET', 'http://localhost/v1/users'],
    ['a method that the path does not have', 'DELETE', '/v1/users'],
    ['a method of a placeholder beside the path', 'DELETE', '/v1/buyer/links/find'],
    ['a method in lower case', 'get', '/v1/users'],
    ['HEAD', 'HEAD', '/v1/users'],
    ['OPTIONS', 'OPTIONS', '/v1/users'],
    ["a name of an object's own", 'GET', '/__proto__'],
  ])('returns undefined for every other spelling and method', (_what, method, path) => {
    expect(find(method, path)).toBeUndefined();
  });

  itForAll(allRoutes.map((route) => [route.name, route] as const))(
    'finds each row with a slash at the end, as API Gateway does',
    (_name, route) => {
      const path = route.path.replaceAll(/\{\w+\}/g, 'value');
      expect(find(route.method, path.replace(/\/?$/, '/'))).toEqual(find(route.method, path));
    },
  );

  describe('with a placeholder', () => {
    const row = (name: string, path: string): Route => ({ ...routes['list-users'], name, path }) as Route;
    const findGuide = router([
      row('any', '/docs/{guide}'),
      row('plain', '/docs/plain'),
      row('docs', '/docs'),
    ]);

    it('returns the decoded segment as a path parameter', () => {
      expect(findGuide('GET', '/docs/a%20b.js')).toMatchObject({ pathParameters: { guide: 'a b.js' } });
    });

    it('prefers a path without a placeholder', () => {
      expect(findGuide('GET', '/docs/plain')?.route.name).toBe('plain');
    });

    it.each(['/docs//', '/docs/a/b', '/docs/%zz'])('returns undefined for %s', (path) => {
      expect(findGuide('GET', path)).toBeUndefined();
    });

    it('returns no path parameters without a placeholder', () => {
      expect(findGuide('GET', '/docs')?.pathParameters).toBeNull();
    });

    it('returns all segments of a greedy placeholder, decoded, and prefers the other paths', () => {
      const findPage = router([row('greedy', '/docs/{page+}'), row('plain', '/docs/plain')]);
      expect(findPage('GET', '/docs/a%20b/c')).toMatchObject({ pathParameters: { page: 'a b/c' } });
      expect(findPage('GET', '/docs/plain')?.route.name).toBe('plain');
      expect(findPage('GET', '/docs/')).toBeUndefined();
    });
  });
});
