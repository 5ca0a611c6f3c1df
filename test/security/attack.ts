import { type Route, scopeOf } from '#shared/route.ts';
import { call } from '#test/scenarios/call.ts';
import type { Target } from '#test/scenarios/target.ts';
import { validBody, validPath } from './valid-request.ts';

/** Must appear in no response and no log line. */
export const MARKER = 'attackmarker';

export const named = (routes: readonly Route[]) => routes.map((route) => [route.name, route] as const);

export const pathOf = (route: Route, value?: string): string =>
  value === undefined ? validPath(route) : route.path.replace(/\{\w+\}/g, value);

interface Attack {
  readonly key?: string;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
  /** The value of the path parameter. */
  readonly value?: string;
}

export interface AttackOptions {
  readonly routes: readonly Route[];
  readonly target: () => Target;
}

/** Makes a request of a row, with a valid path and body unless others are given. */
export const attackBy =
  (target: () => Target) =>
  (route: Route, { key, body = validBody(route), text, headers = {}, query = '', value }: Attack = {}) =>
    call(target(), `${pathOf(route, value)}${query}`, {
      method: route.method,
      headers,
      ...(route.body === undefined ? {} : { text: text ?? JSON.stringify(body) }),
      ...(key === undefined ? {} : { key }),
    });

/** A key that may call the row. */
export const keyFor = (route: Route, { keys }: Target): string => {
  const scope = scopeOf(route);
  if (scope === 'key:rotate') return keys.rotate;
  if (scope === 'events:read') return keys.events;
  return scope === undefined ? keys.app : keys.professional;
};
