import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema';
import type * as v from 'valibot';

/** A Schema Object of OpenAPI 3.0, as far as ours go. */
export interface SchemaObject {
  readonly $ref?: string;
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly example?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, SchemaObject>>;
  readonly additionalProperties?: boolean | SchemaObject;
  readonly items?: SchemaObject;
  readonly oneOf?: readonly SchemaObject[];
  readonly discriminator?: {
    readonly propertyName: string;
    readonly mapping: Readonly<Record<string, string>>;
  };
}

export type Definitions = Readonly<Record<string, v.GenericSchema>>;

const COMPONENTS = '#/components/schemas/';

/** `{ $ref }` of a component. */
export const refTo = (component: string): SchemaObject => ({ $ref: `${COMPONENTS}${component}` });

/** A query parameter comes as text and is converted; so its default, written as the text it stands for, is here what it becomes. */
const defaultOf = ({ type, default: sent }: SchemaObject): unknown =>
  type === 'integer' && typeof sent === 'string' ? Number(sent) : sent;

/** Where JSON Schema and OpenAPI 3.0 differ: `$defs`, and the plural `examples` and an empty `required`, which 3.0 refuses. */
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
 * What a schema says of an input (before our parsers) or an output. Parsers and checks of our own have no JSON Schema: what a caller
 * can hold to of them stands beside them as metadata.
 */
const options = (typeMode: 'input' | 'output', definitions: Definitions): ConversionConfig => ({
  target: 'openapi-3.0',
  typeMode,
  ignoreActions: ['raw_transform', 'transform', 'check'],
  definitions,
});

/** What a caller may send. */
export const inputSchema = (schema: v.GenericSchema): SchemaObject =>
  toOpenApi(toJsonSchema(schema, options('input', {}))) as SchemaObject;

/** What we answer; schemas that have a name among the definitions are referred to by it. */
export const outputSchema = (schema: v.GenericSchema, definitions: Definitions): SchemaObject => {
  const { $defs, ...own } = toJsonSchema(schema, options('output', definitions));
  return toOpenApi(own) as SchemaObject;
};

/** The named schemas of answers, by their names. */
export const outputSchemas = (definitions: Definitions): Readonly<Record<string, SchemaObject>> =>
  toOpenApi(toJsonSchemaDefs(definitions, options('output', definitions))) as Record<string, SchemaObject>;

/** An example of a whole, made of the examples of its parts. */
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
