import { readFileSync } from 'node:fs';
import { PROBLEMS } from '#shared/problems.ts';
import { allRoutes } from '#shared/routes.ts';

const sourceOf = (name: string): string =>
  readFileSync(new URL(`../../client-php/src/${name}.php`, import.meta.url), 'utf8');

describe('the PHP client', () => {
  it('has a constant for each problem code of the service', () => {
    const constants = sourceOf('ProblemCode').matchAll(/const (\w+) = '(\w+)';/g);
    const codes = Object.keys(PROBLEMS);
    expect([...constants].map(([, name, code]) => [name, code])).toEqual(
      codes.map((code) => [code.toUpperCase(), code]),
    );
  });

  it('repeats every request but those of the rows that are not repeatable', () => {
    const [, list = ''] = /NOT_REPEATABLE = \[([^\]]*)\]/.exec(sourceOf('Transport')) ?? [];
    const listed = [...list.matchAll(/'([^']+)'/g)].map(([, operation]) => operation);
    const rows = allRoutes.filter(({ repeatable }) => !repeatable);
    expect(listed).toEqual(rows.map(({ method, path }) => `${method} ${path}`));
  });
});
