import type { SchemaObject } from '../openapi/json-schema.ts';

type Named<Type> = Readonly<Record<string, Type>>;

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

interface Media {
  readonly schema: SchemaObject;
  readonly example?: unknown;
  readonly examples?: Named<{ readonly value: unknown }>;
}

interface Response {
  readonly description: string;
  readonly headers?: Named<{ readonly $ref?: string; readonly description?: string }>;
  readonly content?: Named<Media>;
}

/** A path or query parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly 'x-required-scope'?: string;
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Named<Media> };
  readonly responses: Named<Response>;
}

/** The part of the OpenAPI document that the page shows. Each schema is in place of its references. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Named<Named<OperationObject>>;
  readonly components: {
    readonly headers: Named<{ readonly description: string }>;
    readonly schemas: Named<SchemaObject>;
  };
}

/** Returns an OpenAPI document with each schema in place of its references. */
export const withSchemas = (original: object): ApiDocument => {
  const document = structuredClone(original) as ApiDocument;
  const resolve = (node: object): void => {
    for (const [key, child] of Object.entries(node)) {
      const [, name] = String(child?.$ref).split('#/components/schemas/');
      if (name !== undefined) Object.assign(node, { [key]: document.components.schemas[name] });
      else if (typeof child === 'object' && child !== null) resolve(child);
    }
  };
  resolve(document);
  return document;
};

/** The responses that are no errors, in descending order, so that 201 precedes the 200 of its repetition. */
const successesOf = (responses: Named<Response>) =>
  Object.entries(responses)
    .filter(([status]) => Number(status) < 400)
    .reverse()
    .map(([status, { description, headers = {}, content = {} }]) => {
      const [mediaType, media] = Object.entries(content)[0] ?? [];
      // The common headers are references. The page describes them once.
      const ownHeaders = Object.entries(headers).filter(([, { $ref }]) => $ref === undefined);
      const examples = media?.examples ? Object.values(media.examples) : [{ value: media?.example }];
      return { status, description, ownHeaders, mediaType, schema: media?.schema, examples };
    });

/** The problems of an operation: the document has an example for each code. */
const errorsOf = (responses: Named<Response>) =>
  Object.values(responses).flatMap(({ content }) => {
    const { example, examples } = content?.['application/problem+json'] ?? {};
    const problems = examples ? Object.values(examples).map(({ value }) => value) : [example];
    return problems.filter((problem) => problem !== undefined) as Problem[];
  });

/** Returns the operations in the order of the document. */
export const operationsOf = ({ paths }: ApiDocument) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      id: operation.operationId,
      method: method.toUpperCase(),
      path,
      takesKey: operation.security.length > 0,
      scope: operation['x-required-scope'],
      takesToken: operation.security[0] !== undefined && 'AccessToken' in operation.security[0],
      parameters: operation.parameters ?? [],
      body: operation.requestBody?.content['application/json'],
      successes: successesOf(operation.responses),
      errors: errorsOf(operation.responses),
    })),
  );

/** An operation as the page shows it. */
export type Operation = ReturnType<typeof operationsOf>[number];

/** Returns parameters as the fields of an object. */
export const schemaOf = (parameters: readonly Parameter[]): SchemaObject => ({
  properties: Object.fromEntries(
    parameters.map(({ name, schema, description = '' }) => [name, { ...schema, description }]),
  ),
  required: parameters.filter(({ required }) => required).map(({ name }) => name),
});

/** Returns the fields of the request and of the first response, each with its id on the page. */
export const fieldsOf = ({ id, parameters, body, successes }: Operation) => {
  const request = { ...schemaOf(parameters).properties, ...body?.schema.properties };
  const response = successes[0]?.schema?.properties ?? {};
  return [
    ...Object.entries(request).map(([name, schema]) => ({ name, schema, id: `${id}.${name}` })),
    ...Object.entries(response).map(([name, schema]) => ({ name, schema, id: `${id}.response.${name}` })),
  ];
};
