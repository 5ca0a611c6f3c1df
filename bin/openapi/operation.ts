import { PROBLEM_CONTENT_TYPE } from '#shared/http/responses.ts';
import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { type ObjectSchema, problemsOf, type Route, scopeOf } from '#shared/route.ts';
import { headersOf } from './headers.ts';
import {
  type Definitions,
  exampleOf,
  inputSchema,
  outputSchema,
  refTo,
  type SchemaObject,
} from './json-schema.ts';
import { anyOfProblems, problemExample } from './problem-schemas.ts';

/** The component that holds a row's body: `create-user` -> `CreateUserBody`. */
export const bodyComponentOf = ({ name }: Route): string =>
  `${name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}Body`;

/** What the document has in common for all operations. */
export interface Shared {
  readonly definitions: Definitions;
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

const parametersIn = (place: 'path' | 'query', schema: ObjectSchema | undefined) => {
  if (schema === undefined) return [];
  const { properties = {}, required = [] } = inputSchema(schema);
  return Object.entries(properties).map(([name, { description, ...type }]) => ({
    name,
    in: place,
    description,
    required: required.includes(name),
    schema: type,
  }));
};

const parametersOf = ({ pathParameters, query }: Route) => {
  const parameters = [...parametersIn('path', pathParameters?.schema), ...parametersIn('query', query)];
  return parameters.length === 0 ? {} : { parameters };
};

const requestBodyOf = (route: Route, { schemas }: Shared) => {
  if (route.body === undefined) return {};
  const schema = refTo(bodyComponentOf(route));
  return {
    requestBody: {
      required: true,
      content: { 'application/json': { schema, example: exampleOf(schema, schemas) } },
    },
  };
};

const answersOf = (route: Route, { definitions, schemas }: Shared) =>
  Object.entries(route.responses).map(([status, { description, schema, mediaType }]) => {
    if (schema === undefined)
      return [status, { description, headers: headersOf(route, Number(status)) }] as const;
    const body = outputSchema(schema, definitions);
    const content =
      mediaType === undefined
        ? { 'application/json': { schema: body, example: exampleOf(body, schemas) } }
        : { [String(mediaType.split(';')[0])]: { schema: body } };
    return [status, { description, headers: headersOf(route, Number(status)), content }] as const;
  });

/** A place in the request that an example of `validation_failed` can point at. */
const somewhereIn = ({ body, query }: Route): { pointer: string } | { parameter: string } => {
  const field = Object.keys(body?.entries ?? {})[0];
  return field === undefined
    ? { parameter: Object.keys(query?.entries ?? {})[0] ?? 'page' }
    : { pointer: `#/${field}` };
};

/** One example as `example`: a list of one would be a choice between nothing. */
const examplesOf = (codes: readonly ProblemCode[], route: Route) => {
  const examples = codes.map((code) => [code, problemExample(code, somewhereIn(route))] as const);
  const [[, only] = [], ...others] = examples;
  return others.length === 0 ? { example: only?.value } : { examples: Object.fromEntries(examples) };
};

const refusalsOf = (route: Route) => {
  const byStatus = Map.groupBy(problemsOf(route), (code) => PROBLEMS[code].status);
  return [...byStatus].map(([status, codes]: [number, ProblemCode[]]) => {
    const description = codes.map((code) => `\`${code}\`: ${PROBLEMS[code].detail}`).join('\n\n');
    const content = { [PROBLEM_CONTENT_TYPE]: { schema: anyOfProblems(codes), ...examplesOf(codes, route) } };
    return [String(status), { description, headers: headersOf(route, status), content }] as const;
  });
};

const descriptionOf = (route: Route): string => {
  const scope = scopeOf(route);
  return scope === undefined ? route.description : `${route.description}\n\nScope: \`${scope}\`.`;
};

/** One row of the route table as an Operation Object. */
export const operationOf = (route: Route, shared: Shared) => {
  const scope = scopeOf(route);
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    description: descriptionOf(route),
    security: route.access.by === 'public' ? [] : [{ ApiKey: [] }],
    ...(scope === undefined ? {} : { 'x-required-scope': scope }),
    ...parametersOf(route),
    ...requestBodyOf(route, shared),
    // Statuses are whole numbers, so an object keeps them in ascending order by itself.
    responses: Object.fromEntries([...answersOf(route, shared), ...refusalsOf(route)]),
  };
};
