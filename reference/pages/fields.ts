import type { Parameter, Schema } from './document.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';

export const REQUIRED = html`<b class="required">required</b>`;
const OPTIONAL = html`<span class="type">optional</span>`;

const typeOf = ({ items, title, type = 'string' }: Schema): string =>
  items === undefined ? (title ?? type) : `array of ${typeOf(items)}`;

const code = (value: unknown): Html => html`<code>${String(value)}</code>`;

/** The bounds of a number. The largest safe integer is no bound that a reader needs. */
const rangeOf = ({ minimum, maximum = Number.MAX_SAFE_INTEGER }: Schema): Html | false => {
  if (maximum < Number.MAX_SAFE_INTEGER) return html`${minimum ?? 'up'} to ${maximum}`;
  return minimum !== undefined && html`at least ${minimum}`;
};

/** The rules that a reader can follow. A pattern is for programs: the description says the same in words. */
const rulesOf = (schema: Schema): readonly Html[] =>
  [
    schema.enum && html`always ${schema.enum.map(code)}`,
    rangeOf(schema),
    schema.default !== undefined && html`default ${code(schema.default)}`,
  ]
    .filter((rule) => rule !== undefined && rule !== false)
    .map((rule) => html`<span class="rule">${rule}</span>`);

interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly mark: Html | undefined;
  /** What precedes the name in the id of the field: `create-user.`. */
  readonly prefix: string;
}

const fieldItem = ({ name, schema, mark, prefix }: Field): Html => {
  const nested = schema.items ?? schema;
  const hasFields = Object.keys(nested.properties ?? {}).length > 0;
  return html`<li id="${prefix}${name}">
<p><code class="name">${name}</code> <span class="type">${typeOf(schema)}</span> ${mark} ${rulesOf(schema)}</p>
${schema.description && markdown(schema.description)}
${hasFields && fieldList(nested, `${prefix}${name}.`)}
</li>`;
};

/**
 * Lists the fields of an object with their rules. `prefix` precedes their names in their ids. `requiredMark` follows the name of a field
 * that is always there.
 */
export const fieldList = (
  { properties = {}, required = [] }: Schema,
  prefix: string,
  requiredMark?: Html,
): Html =>
  html`<ul class="fields">
${Object.entries(properties).map(([name, schema]) =>
  fieldItem({ name, schema, mark: required.includes(name) ? requiredMark : OPTIONAL, prefix }),
)}
</ul>`;

/** Lists parameters with their rules. */
export const parameterList = (parameters: readonly Parameter[], prefix: string): Html =>
  fieldList(
    {
      properties: Object.fromEntries(
        parameters.map(({ name, schema, description }) => [name, { ...schema, description }]),
      ),
      required: parameters.filter(({ required }) => required).map(({ name }) => name),
    },
    prefix,
    REQUIRED,
  );
