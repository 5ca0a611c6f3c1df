import { forEachPath, methodsOf, type Route } from '#shared/route.ts';

/** The route of a request and the values of its path parameters. */
export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>> | null;
}

/**
 * Finds the route of a method and a path; undefined if there is none. Slashes, case and escapes must match exactly, but for one slash at
 * the end: a REST API of AWS also routes `/v1/users/` to `/v1/users`. The policy of a key is then checked for the path with the slash.
 */
export const router = (routes: readonly Route[]) => {
  // A path without a placeholder has precedence, as in API Gateway.
  const rows = forEachPath(routes)
    .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length)
    .map((route) => ({ route, pattern: patternOf(route.path) }));
  return (method: string, path: string): RouteMatch | undefined => {
    // API Gateway chooses the resource by its path alone, then the method among those of the resource.
    const resource = rows.find(({ pattern }) => parametersOf(pattern, path) !== undefined)?.route.path;
    const match = rows.find(({ route }) => route.path === resource && methodsOf(route).includes(method));
    const pathParameters = match && parametersOf(match.pattern, path);
    return match && pathParameters !== undefined ? { route: match.route, pathParameters } : undefined;
  };
};

/** `/` -> `^/$`, `/v1/users/{id}` -> `^/v1/users/(?<id>[^/]+)/?$`, `/docs/{path+}` -> `^/docs/(?<path>.+?)/?$` */
const patternOf = (path: string): RegExp =>
  new RegExp(
    `^${RegExp.escape(path)
      .replaceAll(/\\\{(\w+)\\\}/g, '(?<$1>[^/]+)')
      .replaceAll(/\\\{(\w+)\\\+\\\}/g, '(?<$1>.+?)')}${path === '/' ? '' : '/?'}$`,
  );

/** Returns the decoded path parameters, null if the pattern has none; undefined if the path does not match. */
const parametersOf = (pattern: RegExp, path: string): Record<string, string> | null | undefined => {
  const found = pattern.exec(path);
  if (found === null) return undefined;
  if (found.groups === undefined) return null;
  try {
    const decoded = Object.entries(found.groups).map(([name, value]) => [name, decodeURIComponent(value)]);
    return Object.fromEntries(decoded);
  } catch {
    return undefined;
  }
};
