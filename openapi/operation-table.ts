import { type Route, scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

/** Who may call an operation: the holder of a key with a scope, of any key, or everyone. */
const callerOf = (route: Route): string => {
  if (route.access.by === 'public') return 'public';
  const scope = scopeOf(route);
  return scope === undefined ? 'any key' : `\`${scope}\``;
};

/** Returns the table of the operations, in Markdown. */
export const operationTable = (): string =>
  [
    '| operation | scope | |',
    '|---|---|---|',
    ...allRoutes.map(
      (route) => `| \`${route.method} ${route.path}\` | ${callerOf(route)} | ${route.summary} |`,
    ),
  ].join('\n');
