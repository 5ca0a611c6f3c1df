import type { ApiDocument, Operation, Success } from './document.ts';
import { bodyFields, fieldList, parameterFields } from './fields.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { sampleTabs } from './sample-tabs.ts';
import { tryForm } from './try-form.ts';

/** Returns the method in its color. */
export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

const parametersIn = (document: ApiDocument, { parameters }: Operation, location: 'path' | 'query') => {
  const found = parameters.filter((parameter) => parameter.in === location);
  const title = location === 'path' ? 'Path parameters' : 'Query parameters';
  return found.length === 0 ? undefined : html`<h4>${title}</h4>${parameterFields(document, found)}`;
};

const successLine = ({ status, description, headers }: Success): Html => html`
<p><b class="status">${status}</b> ${description}</p>
${headers.map((header) => html`<p>Header <code>${header.name}</code>: ${header.description}</p>`)}`;

/** The responses that are no errors. The fields of a body that two of them share are listed once. */
const responses = (document: ApiDocument, { successes }: Operation): Html => {
  const schemas = new Set(successes.flatMap(({ schema }) => (schema?.properties ? [schema] : [])));
  return html`<h4>Response</h4>
${successes.map(successLine)}
${[...schemas].map((schema) => fieldList(document, schema))}`;
};

const errorTable = ({ id, errors }: Operation): Html => html`<h4 id="${id}-errors">Errors</h4>
<table aria-labelledby="${id}-errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${errors.map(({ status, code, detail }) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${detail}</td></tr>`)}
</tbody>
</table>`;

const exampleResponse = ({ successes }: Operation): Html | undefined => {
  const [main] = successes;
  if (main?.example === undefined) return undefined;
  return html`<figure class="example"><figcaption>Response ${main.status}</figcaption>
<pre><code>${JSON.stringify(main.example, null, 2)}</code></pre></figure>`;
};

/**
 * Returns the section of an operation. On a wide screen samples and the form are beside the text; on a phone they follow the
 * description, before the fields.
 */
export const operationSection = (document: ApiDocument, operation: Operation): Html => {
  const { id, method, path, summary, description, body } = operation;
  return html`<section class="operation" id="${id}" aria-labelledby="${id}-title">
<div class="text">
<h3 id="${id}-title">${summary}</h3>
<p class="path">${methodBadge(method)} <code>${path}</code></p>
${markdown(description)}
</div>
<div class="aside">
${sampleTabs(operation)}
${tryForm(operation, id)}
${exampleResponse(operation)}
</div>
<div class="text">
${parametersIn(document, operation, 'path')}
${parametersIn(document, operation, 'query')}
${body && html`<h4>Body</h4>${bodyFields(document, body.schema)}`}
${responses(document, operation)}
</div>
<div class="errors">${errorTable(operation)}</div>
</section>`;
};
