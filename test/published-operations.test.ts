/**
 * What a published row needs besides its code, and no generator can write. `npm run check` runs this file, so that a row is not
 * forgotten in a client, the scenarios, the samples or the call budgets.
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { buildDocument } from '#reference/openapi/document.ts';
import { operationsOf, withSchemas } from '#reference/pages/document.ts';
import type { Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { sampleText } from './reference/pages/sample-text.ts';
import { requestsIn } from './scenario-requests.ts';

const textOf = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');

const CLIENTS = ['client/src/client.ts', 'client-php/src/Client.php'] as const;
const BUDGETS = 'test/functions/call-budgets.test.ts';

/** The beginning of a call in either client, or a request that it sends: `http.GET('/v1/users'`, `send('GET', '/v1/users'`. */
const CALL_OR_REQUEST =
  /(?:async \*?|function )(?<method>\w+)\(|const (?<constant>\w+) = async \(|(?:http\.|send\(')(?<verb>[A-Z]+)(?:\(|', )'(?<path>[^']+)'/g;

/** Returns the calls in the source of a client: `GET /v1/users/{id}` -> `getUser`. */
const callsIn = (source: string): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  let call = '';
  for (const { groups } of source.matchAll(CALL_OR_REQUEST)) {
    const { method, constant, verb, path } = groups as Record<string, string | undefined>;
    if (verb === undefined) call = method ?? constant ?? '';
    else found.set(`${verb} ${path}`, call);
  }
  return found;
};

const calls = CLIENTS.map((file) => callsIn(textOf(file)));
const scenarios = requestsIn(globSync('test/scenarios/*.ts').map(textOf).join('\n'));
const budgets = textOf(BUDGETS);
const operations = operationsOf(withSchemas(buildDocument()));

/** The method that a curl sample sends. */
const methodOfCurl = (sample: string): string =>
  /^curl -X (\w+)/.exec(sample)?.[1] ?? (/ -d '/.test(sample) ? 'POST' : 'GET');

const published = allRoutes.filter(({ tag }) => tag !== undefined);

/** Returns what a row with a key lacks, and the command that runs what must be added. */
const missingOf = ({ name, method, path }: Route): readonly string[] => {
  const operation = `${method} ${path}`;
  return [
    ...CLIENTS.filter((_, index) => !calls[index]?.has(operation)).map(
      (file) => `a call in ${file}: npm test -- test/client test/client-php`,
    ),
    ...(scenarios.has(operation.replace(/\{\w+\}/g, '{}'))
      ? []
      : ['a request in test/scenarios: npm test -- test/scenarios/local.test.ts']),
    ...(budgets.includes(`operation: '${name}'`)
      ? []
      : [`a budget of its table calls: npm test -- ${BUDGETS}`]),
  ];
};

describe('a published operation', () => {
  it.each(
    published.filter(({ access }) => access.by !== 'public').map((route) => [route.name, route] as const),
  )('%s has a call in both clients, a scenario and a budget of its table calls', (_name, route) => {
    expect(missingOf(route)).toEqual([]);
  });

  it('has the same name in both clients', () => {
    expect(Object.fromEntries(calls[0] ?? [])).toEqual(Object.fromEntries(calls[1] ?? []));
  });

  it.each(published.map((route) => [route.name, route.method] as const))(
    '%s has a curl sample that sends its method',
    (name, method) => {
      const operation = operations.find(({ id }) => id === name);
      if (operation === undefined) throw new Error(`${name} is not in the document`);
      expect(methodOfCurl(sampleText(operation, 'curl', 'http://localhost:3000'))).toBe(method);
    },
  );
});

describe('a published response', () => {
  const { components } = buildDocument() as {
    components: { schemas: Record<string, { properties?: object }> };
  };
  const classes = Object.entries(components.schemas)
    .map(([name, { properties = {} }]) => ({
      file: `client-php/src/${name}.php`,
      fields: Object.keys(properties),
    }))
    .filter(({ file }) => existsSync(new URL(`../${file}`, import.meta.url)));

  it('has each of its fields in its class of the PHP client', () => {
    expect(classes.length).toBeGreaterThan(7);
    const missing = classes.flatMap(({ file, fields }) => {
      const source = textOf(file);
      return fields.filter((field) => !source.includes(`['${field}']`)).map((field) => `${field}: ${file}`);
    });
    expect(missing).toEqual([]);
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
