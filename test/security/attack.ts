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
  /** The header Authorization in place of a valid access token, on a row that takes one; null for none. */
  readonly authorization?: string | null;
}

export interface AttackOptions {
  readonly target: () => Target;
  /** The access token of a buyer who signed in with a key of the target's seller. */
  readonly token: () => string;
}

/** Makes a request of a row, with a valid path and body unless others are given. */
export const attackBy =
  ({ target, token }: AttackOptions) =>
  (
    route: Route,
    { key, body = validBody(route), text, headers = {}, query = '', value, authorization }: Attack = {},
  ) => {
    const header =
      authorization === undefined && route.access.by === 'buyer' ? `Bearer ${token()}` : authorization;
    return call(target(), `${pathOf(route, value)}${query}`, {
      method: route.method,
      headers: { ...(header ? { Authorization: header } : {}), ...headers },
      ...(route.body === undefined ? {} : { text: text ?? JSON.stringify(body) }),
      ...(key === undefined ? {} : { key }),
    });
  };

/** A key that may call the row. The buyer app's has the scopes of its rows. */
export const keyFor = (route: Route, { keys }: Target): string => {
  const scope = scopeOf(route);
  if (scope === 'key:rotate') return keys.rotate;
  if (scope === 'events:read') return keys.events;
  return scope === undefined || route.access.by === 'buyer' ? keys.app : keys.professional;
};
