import { codeBlock } from './block.ts';
import type { Operation } from './document.ts';
import { fieldList, parameterList, REQUIRED } from './fields.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { sampleTabs } from './samples.ts';
import { tryForm } from './try-form.ts';

/** Returns the method in its color. */
export const methodBadge = (method: string): Html =>
  html`<span class="method ${method.toLowerCase()}">${method}</span>`;

const parametersIn = ({ id, parameters }: Operation, location: string, title: string): Html | false => {
  const found = parameters.filter((parameter) => parameter.in === location);
  return found.length > 0 && html`<h4>${title}</h4>${parameterList(found, `${id}.`)}`;
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

const errorTable = ({ id, errors }: Operation): Html => html`<h4 id="${id}-errors">Errors</h4>
<table aria-labelledby="${id}-errors">
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${errors.map(({ status, code, detail }) => html`<tr><td>${status}</td><td><code>${code}</code></td><td>${detail}</td></tr>`)}
</tbody>
</table>`;

const exampleResponse = ({ successes: [main] }: Operation): Html | false =>
  main?.example !== undefined &&
  codeBlock({
    text: JSON.stringify(main.example),
    grammar: 'json',
    language: 'en',
    caption: `Response ${main.status}`,
  });

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
${sampleTabs(operation)}
${tryForm(operation, id)}
${exampleResponse(operation)}
</div>
<div class="text">
${parametersIn(operation, 'path', 'Path parameters')}
${parametersIn(operation, 'query', 'Query parameters')}
${body && html`<h4>Body</h4>${fieldList(body.schema, `${id}.`, REQUIRED)}`}
${responses(operation)}
</div>
<div class="errors">${errorTable(operation)}</div>
</section>`;
};
