import { type ApiDocument, type Parameter, resolveSchema, type Schema } from './document.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly description: string | undefined;
  readonly mark: Html | undefined;
}

const typeOf = (document: ApiDocument, schema: Schema): string => {
  if (schema.items !== undefined)
    return `array of ${typeOf(document, resolveSchema(document, schema.items))}`;
  return schema.title ?? schema.type ?? 'string';
};

const code = (value: unknown): Html => html`<code>${String(value)}</code>`;

/** The bounds of a number. The largest safe integer is no bound that a reader needs. */
const rangeOf = ({ minimum, maximum }: Schema): Html | undefined => {
  if (maximum === Number.MAX_SAFE_INTEGER || maximum === undefined) {
    return minimum === undefined ? undefined : html`at least ${minimum}`;
  }
  return html`${minimum ?? 'up'} to ${maximum}`;
};

/** The rules that a reader can follow. A pattern is for programs: the description says the same in words. */
const rulesOf = (schema: Schema): readonly Html[] => {
  const { enum: values, default: preset } = schema;
  return [
    values && html`always ${values.map(code)}`,
    rangeOf(schema),
    preset === undefined ? undefined : html`default ${code(preset)}`,
  ].filter((rule) => rule !== undefined);
};

const fieldItem = (document: ApiDocument, { name, schema, description, mark }: Field): Html => {
  const nested = resolveSchema(document, schema.items ?? schema);
  const rules = rulesOf(schema).map((rule) => html`<span class="rule">${rule}</span>`);
  return html`<li>
<p><code class="name">${name}</code> <span class="type">${typeOf(document, schema)}</span> ${mark} ${rules}</p>
${description && markdown(description)}
${Object.keys(nested.properties ?? {}).length === 0 ? undefined : fieldList(document, nested)}
</li>`;
};

const list = (document: ApiDocument, fields: readonly Field[]): Html =>
  html`<ul class="fields">
${fields.map((field) => fieldItem(document, field))}
</ul>`;

const REQUIRED = html`<b class="required">required</b>`;
const OPTIONAL = html`<span class="type">optional</span>`;

const marked = ({ properties = {}, required = [] }: Schema, ifRequired: Html | undefined): readonly Field[] =>
  Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    description: schema.description,
    mark: required.includes(name) ? ifRequired : OPTIONAL,
  }));

/** Lists the fields of a response. Those that may be absent are marked. */
export const fieldList = (document: ApiDocument, schema: Schema): Html =>
  list(document, marked(schema, undefined));

/** Lists the fields of a request body with their rules. */
export const bodyFields = (document: ApiDocument, schema: Schema): Html =>
  list(document, marked(schema, REQUIRED));

/** Lists parameters with their rules. */
export const parameterFields = (document: ApiDocument, parameters: readonly Parameter[]): Html =>
  list(
    document,
    parameters.map(({ name, schema, description, required }) => ({
      name,
      schema,
      description,
      mark: required ? REQUIRED : OPTIONAL,
    })),
  );
