import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';

/** Who may call an operation: the holder of a key with a scope, of any key, or everyone. */
const callerOf = ({ access }: Pick<Route, 'access'>): string => {
  if (access.by === 'public') return 'public';
  return 'scope' in access && access.scope !== undefined ? `\`${access.scope}\`` : 'any key';
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
