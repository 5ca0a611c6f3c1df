import { problemsOf } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { SchemaObject } from '../openapi/json-schema.ts';
import { codeBlock } from './block.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { type Operation, schemaOf } from './operations.ts';
import { sampleBlock, tryForm } from './samples.ts';

const REQUIRED = html`<b class="required">required</b>`;
const OPTIONAL = html`<span class="type">optional</span>`;

const typeOf = ({ items, title, type = 'string' }: SchemaObject): string =>
  items === undefined ? (title ?? type) : `array of ${typeOf(items)}`;

const code = (value: unknown): Html => html`<code>${String(value)}</code>`;

/** The bounds of a number. The largest safe integer is no bound that a reader needs. */
const rangeOf = ({ minimum, maximum = Number.MAX_SAFE_INTEGER }: SchemaObject): Html | false => {
  if (maximum < Number.MAX_SAFE_INTEGER) return html`${minimum ?? 'up'} to ${maximum}`;
  return minimum !== undefined && html`at least ${minimum}`;
};

/** The rules that a reader can follow. A pattern is for programs: the description says the same in words. */
const rulesOf = (schema: SchemaObject): readonly Html[] =>
  [
    schema.enum && html`always ${schema.enum.map(code)}`,
    rangeOf(schema),
    schema.default !== undefined && html`default ${code(schema.default)}`,
  ]
    .filter((rule) => rule !== undefined && rule !== false)
    .map((rule) => html`<span class="rule">${rule}</span>`);

interface Field {
  readonly name: string;
  readonly schema: SchemaObject;
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
const fieldList = (
  { properties = {}, required = [] }: SchemaObject,
  prefix: string,
  requiredMark?: Html,
): Html =>
  html`<ul class="fields">
${Object.entries(properties).map(([name, schema]) =>
  fieldItem({ name, schema, mark: required.includes(name) ? requiredMark : OPTIONAL, prefix }),
)}
</ul>`;

/** Returns the method in its color. */
export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

const parametersIn = ({ id, parameters }: Operation, location: string, title: string): Html | false => {
  const found = parameters.filter((parameter) => parameter.in === location);
  return found.length > 0 && html`<h4>${title}</h4>${fieldList(schemaOf(found), `${id}.`, REQUIRED)}`;
};

/** The responses that are no errors. The fields of a body that two of them share are listed once. */
const responses = ({ id, successes }: Operation): Html => {
  const schemas = new Set(successes.flatMap(({ schema }) => (schema?.properties ? [schema] : [])));
  return html`<h4>Response</h4>
${successes.map(
  ({ status, description, ownHeaders }) => html`
<p><b class="status">${status}</b> ${description}</p>
${ownHeaders.map(([name, header]) => html`<p>Header <code>${name}</code>: ${header.description}</p>`)}`,
)}
${[...schemas].map((schema) => fieldList(schema, `${id}.response.`))}`;
};

/** The codes that rows have because of their kind: a body, a key, a scope. The chapter on errors describes them once. */
const COMMON_CODES: ReadonlySet<string> = new Set(
  allRoutes.flatMap((row) => problemsOf(row).filter((code) => !row.problems.includes(code))),
);

const errorTable = (
  id: string,
  errors: Operation['errors'],
): Html => html`<table aria-labelledby="${id}-errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${errors.map(({ status, code, detail }) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${detail}</td></tr>`)}
</tbody>
</table>`;

/** The errors of an operation: its own with their meanings, and the codes of those that other operations of its kind have too. */
const errorList = ({ id, errors }: Operation): Html => {
  const own = errors.filter(({ code }) => !COMMON_CODES.has(code));
  const common = errors.filter(({ code }) => COMMON_CODES.has(code));
  return html`<h4 id="${id}-errors">Errors</h4>
${own.length > 0 && errorTable(id, own)}
<p>${own.length > 0 ? 'Also the' : 'The'} <a href="#errors">common errors</a>:${common.map(
    ({ status, code }, index) => html` ${status} <code>${code}</code>${index < common.length - 1 && ','}`,
  )}.</p>`;
};

const exampleResponses = ({ successes: [main] }: Operation): readonly Html[] =>
  (main?.examples ?? [])
    .filter(({ value }) => value !== undefined)
    .map(({ value }) =>
      codeBlock({
        text: JSON.stringify(value),
        grammar: 'json',
        language: 'en',
        caption: `Response ${main?.status}`,
      }),
    );

/**
 * Returns the section of an operation. On a wide screen samples and the form are beside the text; on a phone they follow the
 * description, before the fields.
 */
export const operationSection = (operation: Operation): Html => {
  const { id, method, path, summary, description, body } = operation;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="text">
<h3 id="${id}-title">${summary}</h3>
<p class="path">${methodBadge(method)} <code>${path}</code></p>
${markdown(description)}
</div>
<div class="aside">
${sampleBlock(operation)}
${tryForm(operation, id)}
${exampleResponses(operation)}
</div>
<div class="text">
${parametersIn(operation, 'path', 'Path parameters')}
${parametersIn(operation, 'query', 'Query parameters')}
${body && html`<h4>Body</h4>${fieldList(body.schema, `${id}.`, REQUIRED)}`}
${responses(operation)}
</div>
<div class="errors">${errorList(operation)}</div>
</section>`;
};
