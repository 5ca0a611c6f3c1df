/** The OpenAPI document as the reference page reads it: operations in order, references resolved, successes and errors apart. */

/** The part of a Schema Object that the page shows. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  /** Errors have alternatives; the page lists them by their examples. */
  readonly oneOf?: readonly object[];
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
}

interface Media {
  readonly schema: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

interface HeaderObject {
  readonly $ref?: string;
  readonly description?: string;
}

interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject>>;
  readonly content?: Readonly<Record<string, Media>>;
}

/** A path or query parameter. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

interface OperationObject {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, ResponseObject>>;
}

/** The part of the document that the page shows. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly schemas: Readonly<Record<string, Schema>>;
  };
}

/** A response that is no error. */
export interface Success {
  readonly status: string;
  readonly description: string;
  /** The headers of this response alone; the common ones are described once. */
  readonly headers: readonly { readonly name: string; readonly description: string }[];
  readonly mediaType: string | undefined;
  readonly schema: Schema | undefined;
  readonly example: unknown;
}

/** An operation as the page shows it. */
export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly takesKey: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly schema: Schema; readonly example: unknown } | undefined;
  /** In descending order, so that 201 precedes the 200 of its repetition. */
  readonly successes: readonly Success[];
  readonly errors: readonly Problem[];
}

const PROBLEM = 'application/problem+json';

/** Returns the schema, or the component that it refers to. */
export const resolveSchema = (document: ApiDocument, schema: Schema): Schema =>
  schema.$ref === undefined
    ? schema
    : (document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema);

const successOf = (document: ApiDocument, status: string, response: ResponseObject): Success => {
  const [mediaType, media] = Object.entries(response.content ?? {})[0] ?? [];
  return {
    status,
    description: response.description,
    headers: Object.entries(response.headers ?? {}).flatMap(([name, { $ref, description = '' }]) =>
      $ref === undefined ? [{ name, description }] : [],
    ),
    mediaType,
    schema: media && resolveSchema(document, media.schema),
    example: media?.example,
  };
};

/** The problems of a response, from its examples: the document has one for each code. */
const problemsOf = ({ content = {} }: ResponseObject): readonly Problem[] => {
  const { example, examples } = content[PROBLEM] ?? {};
  const values = examples === undefined ? [example] : Object.values(examples).map(({ value }) => value);
  return values.filter((value): value is Problem => value !== undefined);
};

const operationFrom = (
  document: ApiDocument,
  path: string,
  [method, operation]: readonly [string, OperationObject],
): Operation => {
  const responses = Object.entries(operation.responses);
  const body = operation.requestBody?.content['application/json'];
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag: operation.tags[0] ?? '',
    summary: operation.summary,
    description: operation.description,
    takesKey: operation.security.length > 0,
    parameters: operation.parameters ?? [],
    body: body && { schema: resolveSchema(document, body.schema), example: body.example },
    successes: responses
      .filter(([status]) => Number(status) < 400)
      .map(([status, response]) => successOf(document, status, response))
      .reverse(),
    errors: responses.flatMap(([, response]) => problemsOf(response)),
  };
};

/** Returns the operations in the order of the document. */
export const operationsOf = (document: ApiDocument): readonly Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map((entry) => operationFrom(document, path, entry)),
  );
