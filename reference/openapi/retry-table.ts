import { allRoutes } from '#shared/routes.ts';
import { table } from './limit-tables.ts';

/** Returns the table of the requests that are safe to repeat, for the OpenAPI document and docs/errors.md. */
export const retryTable = (): string => {
  const notRepeatable = allRoutes.filter(({ repeatable }) => !repeatable);
  return table(
    ['Request', 'Safe to repeat'],
    [
      [
        notRepeatable.map(({ method, path }) => `\`${method} ${path}\``).join(', '),
        'after `rate_limit_exceeded` only: after any other failure the first request may have had its effect',
      ],
      ['every other request', 'always: a repetition leads to the same result'],
    ],
  );
};
