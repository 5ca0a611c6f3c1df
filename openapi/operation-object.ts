import * as v from 'valibot';
import { PROBLEM_CONTENT_TYPE } from '#shared/http/responses.ts';
import { detailsOf, type InputError, PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { type ObjectSchema, problemsOf, type Route, scopeOf, tokenOf } from '#shared/route.ts';
import { headersOf } from './headers.ts';
import {
  componentName,
  type Definitions,
  exampleOf,
  inputSchema,
  outputSchema,
  refTo,
  type SchemaObject,
} from './json-schema.ts';
import { anyOfProblems, problemExample } from './problem-schemas.ts';

/** Returns the name of the component of a row's body: `create-user` -> `CreateUserBody`. */
export const bodyComponentOf = ({ name }: Route): string => `${componentName(name)}Body`;

/** The parts of the document that operations refer to. */
export interface Shared {
  readonly definitions: Definitions;
  readonly schemas: Readonly<Record<string, SchemaObject>>;
}

const parametersIn = (location: 'path' | 'query', parameters: ObjectSchema | undefined) => {
  if (parameters === undefined) return [];
  const { properties = {}, required = [] } = inputSchema(parameters);
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: location,
    description,
    required: required.includes(name),
    schema,
  }));
};

const parametersOf = (route: Route) => {
  const parameters = [
    ...parametersIn('path', route.pathParameters?.schema),
    ...parametersIn('query', route.query),
  ];
  return parameters.length === 0 ? {} : { parameters };
};

const requestBodyOf = (route: Route, { schemas }: Shared) => {
  if (route.body === undefined) return {};
  const schema = refTo(bodyComponentOf(route));
  return {
    requestBody: {
      required: !v.is(route.body, {}),
      content: { 'application/json': { schema, example: exampleOf(schema, schemas) } },
    },
  };
};

type RouteResponse = Route['responses'][number];

/** A body with optional fields has a second example, without them: the last users of `after`. */
const bodyExamplesOf = (body: SchemaObject, schemas: Shared['schemas']) => {
  const example = exampleOf(body, schemas) as Record<string, unknown>;
  const { required = [], properties = {} } = schemas[body.$ref?.split('/').at(-1) ?? ''] ?? body;
  if (required.length === Object.keys(properties).length) return { example };
  const least = required.map((name) => [name, properties[name]?.nullable ? null : example[name]]);
  return { examples: { page: { value: example }, after: { value: Object.fromEntries(least) } } };
};

/** The body of a response; none for a response without a schema (204). */
const contentOf = ({ schema, mediaType }: RouteResponse, { definitions, schemas }: Shared) => {
  if (schema === undefined) return {};
  const body = outputSchema(schema, definitions);
  const content =
    mediaType === undefined
      ? { 'application/json': { schema: body, ...bodyExamplesOf(body, schemas) } }
      : { [String(mediaType.split(';')[0])]: { schema: body } };
  return { content };
};

const successesOf = (route: Route, shared: Shared) =>
  Object.entries(route.responses).map(([status, response]) => {
    const { description } = response;
    const headers = headersOf(route, Number(status));
    return [status, { description, headers, ...contentOf(response, shared) }] as const;
  });

/** An error that `validation_failed` can list for this operation. */
const inputErrorOf = ({ body }: Route): InputError => {
  const [field] = Object.keys(body?.entries ?? {});
  return field === undefined
    ? { parameter: 'sort', code: 'unknown', detail: 'Is not a known parameter: this operation has none.' }
    : { pointer: `#/${field}`, code: 'required', detail: 'Is required.' };
};

/** OpenAPI writes one example as `example`, and several as `examples`. */
const examplesOf = (codes: readonly ProblemCode[], route: Route) => {
  const examples = codes.map((code) => [code, problemExample(code, inputErrorOf(route))] as const);
  const [[, first] = [], ...others] = examples;
  return others.length === 0 ? { example: first?.value } : { examples: Object.fromEntries(examples) };
};

const errorsOf = (route: Route) => {
  const byStatus = Map.groupBy(problemsOf(route), (code) => PROBLEMS[code].status);
  return [...byStatus].map(([status, codes]: [number, ProblemCode[]]) => {
    const description = codes.map((code) => `\`${code}\`: ${detailsOf(code)}`).join('\n\n');
    const content = { [PROBLEM_CONTENT_TYPE]: { schema: anyOfProblems(codes), ...examplesOf(codes, route) } };
    return [String(status), { description, headers: headersOf(route, status), content }] as const;
  });
};

const descriptionOf = (route: Route): string => {
  const scope = scopeOf(route);
  const rules = [scope && `Scope: \`${scope}\`.`, route.ignoresQuery && 'A query is ignored.'];
  return [route.description, ...rules.filter((rule) => rule)].join('\n\n');
};

const securityOf = (route: Route) => {
  if (route.access.by === 'public') return [];
  const [withKey, withToken] = [{ ApiKey: [] }, { ApiKey: [], AccessToken: [] }];
  return { none: [withKey], optional: [withKey, withToken], required: [withToken] }[tokenOf(route)];
};

/** Builds the Operation Object of a row. */
export const operationOf = (route: Route, shared: Shared) => {
  const scope = scopeOf(route);
  return {
    operationId: route.name,
    tags: [route.tag],
    summary: route.summary,
    description: descriptionOf(route),
    security: securityOf(route),
    ...(scope === undefined ? {} : { 'x-required-scope': scope }),
    ...parametersOf(route),
    ...requestBodyOf(route, shared),
    // Object keys that are integers are sorted, so the statuses are in ascending order.
    responses: Object.fromEntries([...successesOf(route, shared), ...errorsOf(route)]),
  };
};
