/**
 * What a row needs besides its code, and no generator can write. `npm run check` runs this file, so that a row is not
 * forgotten in the client, its README, the scenarios or the call budgets.
 */
import { globSync, readFileSync } from 'node:fs';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { buyerLinking } from '../client/src/index.ts';
import { requestsIn } from './scenario-requests.ts';

const textOf = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const CLIENT = 'client/src/client.ts';
const BUDGETS = 'test/lib/table-calls.test.ts';

/** The requests that the client sends: `http.GET('/v1/users/{id}'` -> `GET /v1/users/{id}`. */
const requests = [...textOf(CLIENT).matchAll(/http\.([A-Z]+)\('([^']+)'/g)].map(
  ([, verb, path]) => `${verb} ${path}`,
);
const scenarios = requestsIn(globSync('test/scenarios/*.ts').map(textOf).join('\n'));
const budgets = textOf(BUDGETS);

/** Returns what a row with a key lacks, and the command that runs what must be added. */
const missingOf = ({ name, method, path }: Route): readonly string[] => {
  const operation = `${method} ${path}`;
  return [
    ...(requests.includes(operation) ? [] : [`a call in ${CLIENT}: npm test -- test/client`]),
    ...(scenarios.has(operation.replace(/\{\w+\}/g, '{}'))
      ? []
      : ['a request in test/scenarios: npm run test:programs -- test/scenarios/local']),
    ...(budgets.includes(`  '${name}': [`) ? [] : [`a budget of its table calls: npm test -- ${BUDGETS}`]),
  ];
};

describe('an operation', () => {
  it.each(
    allRoutes.filter(({ access }) => access.by !== 'public').map((route) => [route.name, route] as const),
  )('%s has a call in the client, a scenario and a budget of its table calls', (_name, route) => {
    expect(missingOf(route)).toEqual([]);
  });
});

describe('client/README.md', () => {
  it('has a row for each method of the client, and no other', () => {
    const rows = [...textOf('client/README.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => String(name));
    const methods = Object.keys(buyerLinking({ baseUrl: 'http://localhost', apiKey: 'blk_test_of_a_test' }));
    expect(rows.sort()).toEqual(methods.sort());
  });
});

describe('the requests of a scenario', () => {
  it('are read with their methods and without the values of their paths', () => {
    const source = `
      call(target, '/v1/users', { key, body: person })
      call(target(), \`/v1/users/\${id}\`, { method: 'DELETE', key: keyOf(seller) })
      call(target(), \`/v1/users\${query}\`)`;
    expect([...requestsIn(source)]).toEqual(['POST /v1/users', 'DELETE /v1/users/{}', 'GET /v1/users']);
  });
});
