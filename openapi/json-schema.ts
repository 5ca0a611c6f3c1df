import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/** The part of OpenAPI 3.0's Schema Object that the interface uses. */
export interface SchemaObject {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly nullable?: boolean;
  readonly example?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly items?: SchemaObject;
  readonly oneOf?: readonly SchemaObject[];
  readonly discriminator?: object;
}

export type Definitions = Readonly<Record<string, v.GenericSchema>>;

const COMPONENTS = '#/components/schemas/';

/** Returns the name of a component: `user_conflict` -> `UserConflict`, `create-user` -> `CreateUser`. */
export const componentName = (name: string): string =>
  name.replace(/(?:^|[_-])([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** Returns the reference to a component. */
export const refTo = (component: string): SchemaObject => ({ $ref: `${COMPONENTS}${component}` });

/** A query parameter arrives as text, so its valibot default is text. The document gives the parsed value. */
const defaultOf = ({ type, default: text }: SchemaObject): unknown =>
  type === 'integer' && typeof text === 'string' ? Number(text) : text;

/** Converts what JSON Schema and OpenAPI 3.0 write differently: `$defs`, `examples` and an empty `required`. */
const toOpenApi = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(toOpenApi);
  if (typeof node !== 'object' || node === null) return node;
  const { examples, $schema, ...rest } = node as Record<string, unknown>;
  const schema = Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, toOpenApi(value)]));
  if (typeof schema.$ref === 'string') schema.$ref = schema.$ref.replace('#/$defs/', COMPONENTS);
  if (Array.isArray(examples)) schema.example = examples[0];
  if (Array.isArray(schema.required) && schema.required.length === 0) delete schema.required;
  if ('default' in schema) schema.default = defaultOf(schema);
  return schema;
};

/**
 * `input` describes what a caller sends, `output` what the service returns. Our own parsers and checks have no JSON Schema: the schema
 * states their published form as metadata.
 */
const options = (typeMode: 'input' | 'output', definitions: Definitions): ConversionConfig => ({
  target: 'openapi-3.0',
  typeMode,
  ignoreActions: ['raw_transform', 'transform', 'check', 'partial_check', 'raw_check'],
  definitions,
});

/** Returns the schema of what a caller may send. */
export const inputSchema = (schema: v.GenericSchema): SchemaObject =>
  toOpenApi(toJsonSchema(schema, options('input', {}))) as SchemaObject;

/** Returns the schema of a response; a schema among the definitions becomes a reference. */
export const outputSchema = (schema: v.GenericSchema, definitions: Definitions): SchemaObject => {
  const { $defs, ...own } = toJsonSchema(schema, options('output', definitions));
  return toOpenApi(own) as SchemaObject;
};

/** Returns the named schemas of responses, by name. */
export const outputSchemas = (definitions: Definitions): Readonly<Record<string, SchemaObject>> =>
  toOpenApi(toJsonSchemaDefs(definitions, options('output', definitions))) as Record<string, SchemaObject>;

/** Builds the example of a schema from the examples of its parts. Throws if a part has none. */
export const exampleOf = (
  schema: SchemaObject,
  components: Readonly<Record<string, SchemaObject>>,
): unknown => {
  if (schema.$ref !== undefined) {
    const named = components[schema.$ref.slice(COMPONENTS.length)];
    if (named === undefined) throw new Error(`no component ${schema.$ref}`);
    return exampleOf(named, components);
  }
  if (schema.example !== undefined) return schema.example;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.items !== undefined) return [exampleOf(schema.items, components)];
  if (schema.type === 'object') {
    const parts = Object.entries(schema.properties ?? {});
    return Object.fromEntries(parts.map(([name, part]) => [name, exampleOf(part, components)]));
  }
  throw new Error(`a schema of the interface has no example: ${JSON.stringify(schema)}`);
};
