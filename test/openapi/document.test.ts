import { readFileSync } from 'node:fs';
import SwaggerParser from '@apidevtools/swagger-parser';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import * as v from 'valibot';
import { buildDocument } from '#openapi/document.ts';
import { codeLimitTable, duration, keyLimitTable, lockTable, planLimitTable } from '#openapi/limit-tables.ts';
import { markdown } from '#openapi/markdown.ts';
import { PROBLEMS } from '#shared/problems.ts';
import { problemsOf, type Route } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import { itForAll } from '#test/for-all.ts';

const document = buildDocument();

interface Media {
  readonly schema: object;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly security: readonly object[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<
      string,
      { readonly description: string; readonly headers: object; readonly content?: Record<string, Media> }
    >
  >;
}

const operationOf = ({ path, method }: Route): Operation =>
  (document.paths as unknown as Record<string, Record<string, Operation>>)[path]?.[
    method.toLowerCase()
  ] as Operation;

const everyRow = allRoutes.map((route) => [route.name, route] as const);

describe('the document', () => {
  it('is the same as the committed openapi.json', () => {
    const committed = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8'));
    expect(committed).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('is valid OpenAPI 3.0', async () => {
    const copy = JSON.parse(JSON.stringify(document));
    await expect(SwaggerParser.validate(copy)).resolves.toMatchObject({ openapi: '3.0.3' });
  });

  it('has the major number of the path prefix as its version', () => {
    const prefixes = Object.keys(document.paths).flatMap((path) => /^\/v(\d+)\//.exec(path)?.[1] ?? []);
    expect(new Set(prefixes)).toEqual(new Set([document.info.version.split('.')[0]]));
  });

  it('contains every limit and every problem code', () => {
    const { description } = document.info;
    const tables = [planLimitTable(), keyLimitTable(), codeLimitTable(), lockTable()].map(markdown);
    expect(tables.filter((table) => !description.includes(table))).toEqual([]);
    expect(Object.keys(PROBLEMS).filter((code) => !description.includes(`\`${code}\``))).toEqual([]);
  });

  it('uses national ids of no real person in examples: they start with 999', () => {
    const ids = [...JSON.stringify(document).matchAll(/"national_id":"(\d+)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(0);
    expect(ids.filter((id) => !id?.startsWith('999'))).toEqual([]);
  });
});

describe('each row in the document', () => {
  itForAll(everyRow)('has exactly the statuses of its row', (_name, route) => {
    const operation = operationOf(route);
    const statuses = [
      ...Object.keys(route.responses),
      ...problemsOf(route).map((code) => PROBLEMS[code].status),
    ];
    expect(Object.keys(operation.responses).sort()).toEqual([...new Set(statuses.map(String))].sort());
  });

  itForAll(everyRow)('has an example of every problem code of its row', (_name, route) => {
    const operation = operationOf(route);
    const named = Object.values(operation.responses).flatMap(({ content = {} }) => {
      const { example, examples = {} } = content['application/problem+json'] ?? {};
      const values = [example, ...Object.values(examples).map(({ value }) => value)];
      return values.filter((value) => value !== undefined).map((value) => (value as { code: string }).code);
    });
    expect(named.sort()).toEqual([...problemsOf(route)].sort());
  });

  itForAll(everyRow)('requires the key if the row does', (_name, route) => {
    const operation = operationOf(route);
    expect(operation.security.length > 0).toBe(route.access.by !== 'public');
  });

  itForAll(everyRow)(
    'has X-Request-Id on every response, and Retry-After on every 429 and 503',
    (_name, route) => {
      const operation = operationOf(route);
      const headersAt = (status: number) => Object.keys(operation.responses[status]?.headers ?? {});
      const statuses = Object.keys(operation.responses).map(Number);
      expect(statuses.filter((status) => !headersAt(status).includes('X-Request-Id'))).toEqual([]);
      expect(statuses.filter((status) => headersAt(status).includes('Retry-After'))).toEqual(
        statuses.filter((status) => status === 429 || status === 503),
      );
    },
  );

  const ajv = addFormats.default(new Ajv({ strict: false }));
  ajv.addSchema({ ...document, $id: 'openapi' }, undefined, false, false);

  itForAll(everyRow)('has examples that match its schemas', (_name, route) => {
    const operation = operationOf(route);
    const absolute = (schema: object) => JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"openapi#/'));
    const media = [operation.requestBody, ...Object.values(operation.responses)].flatMap((part) =>
      Object.values(part?.content ?? {}),
    );
    const examples = media.flatMap(({ schema, example, examples: named }) =>
      [example, ...Object.values(named ?? {}).map(({ value }) => value)]
        .filter((value) => value !== undefined)
        .map((value) => [schema, value] as const),
    );
    expect(examples.length).toBeGreaterThan(0);
    expect(examples.filter(([schema, value]) => !ajv.validate(absolute(schema), value))).toEqual([]);
  });
});

describe('the example body of each row', () => {
  const rows = allRoutes
    .filter(({ body }) => body !== undefined)
    .map((route) => [route.name, route] as const);

  itForAll(rows)('is accepted by the service', (_name, route) => {
    const example = operationOf(route).requestBody?.content['application/json']?.example;
    expect(v.safeParse(route.body as v.GenericSchema, example).issues).toBeUndefined();
  });
});

describe('a duration', () => {
  it.each([
    [1, '1 second'],
    [90, '90 seconds'],
    [60, '1 minute'],
    [600, '10 minutes'],
    [3600, '1 hour'],
    [5400, '90 minutes'],
    [86_400, '24 hours'],
  ])('of %d seconds is written as %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});
