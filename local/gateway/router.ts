import type { Route } from '#shared/route.ts';

/** The route of a request and the values of its path parameters. */
export interface RouteMatch {
  readonly route: Route;
  readonly pathParameters: Readonly<Record<string, string>> | null;
}

/** Returns the route of a method and a path; undefined if there is none. */
export type Router = (method: string, path: string) => RouteMatch | undefined;

/** Finds the route of a method and a path. Slashes, case and escapes must match exactly. */
export const router = (routes: readonly Route[]): Router => {
  const compiled = routes.map((route) => ({ route, segments: route.path.split('/') }));
  // A path without a placeholder has precedence, as in API Gateway.
  compiled.sort((a, b) => placeholders(a.segments) - placeholders(b.segments));
  return (method, path) => {
    const sent = path.split('/');
    for (const { route, segments } of compiled) {
      if (route.method !== method || segments.length !== sent.length) continue;
      const parameters = matchSegments(segments, sent);
      if (parameters !== undefined) {
        return { route, pathParameters: Object.keys(parameters).length > 0 ? parameters : null };
      }
    }
    return undefined;
  };
};

const isPlaceholder = (segment: string): boolean => segment.startsWith('{') && segment.endsWith('}');

const placeholders = (segments: readonly string[]): number => segments.filter(isPlaceholder).length;

/** Returns the values of the placeholders; undefined if the path does not match. */
const matchSegments = (
  segments: readonly string[],
  sent: readonly string[],
): Record<string, string> | undefined => {
  const parameters: Record<string, string> = {};
  for (const [index, segment] of segments.entries()) {
    const value = sent[index] as string;
    if (!isPlaceholder(segment)) {
      if (value !== segment) return undefined;
      continue;
    }
    const decoded = decode(value);
    if (decoded === undefined || decoded === '') return undefined;
    parameters[segment.slice(1, -1)] = decoded;
  }
  return parameters;
};

const decode = (segment: string): string | undefined => {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
};
