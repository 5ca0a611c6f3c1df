/** The published operations as a Markdown table, for README.md. */
import { readFileSync } from 'node:fs';
import { table } from '#reference/openapi/limit-tables.ts';
import { type Route, scopeOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { callsIn } from './client-calls.ts';

const CLIENT = new URL('../../client/src/client.ts', import.meta.url);

const operationOf = ({ method, path, query }: Route): string => {
  const parameters = Object.keys(query?.entries ?? {});
  return `\`${method} ${path}${parameters.length === 0 ? '' : `?${parameters.join('&')}`}\``;
};

const scopeCell = (route: Route): string => {
  const scope = scopeOf(route);
  if (scope !== undefined) return `\`${scope}\``;
  return route.access.by === 'public' ? 'public' : 'any key';
};

/** What an operation does and its successes, as the reference page orders them: 201 before the 200 of a repetition. */
const effectOf = ({ summary, responses }: Route): string => {
  const successes = Object.entries(responses).map(([status, { description }]) => `${status}: ${description}`);
  return [`${summary}.`, ...successes.reverse()].join(' ');
};

/** Returns the table of the published operations, with the calls of the clients, which have the same names in both. */
export const operationsTable = (): string => {
  const calls = callsIn(readFileSync(CLIENT, 'utf8'));
  return table(
    ['operation', 'scope', 'call of the clients', 'effect'],
    allRoutes
      .filter(({ tag }) => tag !== undefined)
      .map((route) => {
        const call = calls.get(`${route.method} ${route.path}`);
        return [
          operationOf(route),
          scopeCell(route),
          call === undefined ? '–' : `\`${call}\``,
          effectOf(route),
        ];
      }),
  );
};
