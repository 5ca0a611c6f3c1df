import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { PROBLEMS } from '#shared/problems.ts';
import { allFunctions, allRoutes, routes } from '#shared/routes.ts';
import { isBuyerAppOrPublic } from '#shared/scopes.ts';
import { itForAll } from '#test/for-all.ts';

const folder = (name: string) => new URL(`../../${name}/`, import.meta.url);

const functionNames = readdirSync(folder('functions')).map((file) => file.replace(/\.ts$/, ''));

/** The statuses of a row's own problems. Those that every row shares are tested once, in http/endpoint.test.ts. */
const ownStatuses = (route: (typeof allRoutes)[number]): number[] => [
  ...Object.keys(route.responses).map(Number),
  ...route.problems.map((code) => PROBLEMS[code].status),
];

describe('the route table', () => {
  it('has a row for every function, and a function for every row', () => {
    expect(functionNames.sort()).toEqual(allFunctions.map(({ name }) => name).sort());
  });

  it('names each row by its key', () => {
    expect(Object.entries(routes).filter(([key, route]) => key !== route.name)).toEqual([]);
  });

  it('has no two rows with the same method and path', () => {
    const operations = allRoutes.map(({ method, path }) => `${method} ${path}`);
    expect(new Set(operations).size).toBe(operations.length);
  });
});

/** The groups of the tables of refusals, whose titles begin with the names of rows, with their statuses. */
const refusals = ['refusals', 'refused-codes'].flatMap((table) =>
  readFileSync(new URL(`${table}.test.ts`, folder('test/functions')), 'utf8')
    .split(/^describe\('/m)
    .map((group) => ({
      names: (/^([a-z -]+):/.exec(group)?.[1] ?? '').split(' and '),
      statuses: [...group.matchAll(/(?:status: |\[)([0-9]{3}),/g)].map((match) => Number(match[1])),
    })),
);

describe('the tests', () => {
  itForAll(allRoutes.map((route) => [route.name, route] as const))(
    'of each row have a group for each of its statuses, in its own file or in the tables over operations',
    (name, route) => {
      const file = new URL(`${name}.test.ts`, folder('test/functions'));
      expect(existsSync(file)).toBe(true);
      const siblings = readFileSync(new URL('siblings.test.ts', folder('test/functions')), 'utf8');
      const texts = [readFileSync(file, 'utf8'), ...(siblings.includes(`'${name}':`) ? [siblings] : [])];
      const groups = [
        ...[...texts.join('\n').matchAll(/describe\('([0-9]{3})'/g)].map((match) => Number(match[1])),
        ...refusals.filter(({ names }) => names.includes(name)).flatMap(({ statuses }) => statuses),
      ];
      expect(ownStatuses(route).filter((status) => !groups.includes(status))).toEqual([]);
    },
  );
});

describe('isBuyerAppOrPublic', () => {
  it('returns true for a key with buyers:register only, and where no key is taken', () => {
    expect(isBuyerAppOrPublic({ scopes: ['users:read', 'buyers:register'] })).toBe(true);
    expect(isBuyerAppOrPublic({ scopes: ['users:read', 'users:write'] })).toBe(false);
    expect(isBuyerAppOrPublic({ scopes: [] })).toBe(false);
    expect(isBuyerAppOrPublic(undefined)).toBe(true);
  });
});
