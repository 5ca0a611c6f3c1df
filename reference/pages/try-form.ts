import type { Operation, Parameter } from './document.ts';
import { type Html, html, raw } from './html.ts';
import { returnsJson } from './samples.ts';

const attribute = (name: string, value: unknown): Html | false =>
  value !== undefined && html` ${raw(name)}="${String(value)}"`;

/** A path parameter starts empty: the page fills it with an id of an earlier response. */
const parameterInput = ({ name, in: location, required, schema }: Parameter): Html =>
  html`<label><span>${name}</span><input name="${name}" data-in="${location}"${attribute('value', schema.default)}${attribute('placeholder', schema.example)}${required && raw(' required')}></label>`;

const keyInput = (scope: string | undefined): Html =>
  html`<label><span>API key</span><input type="password" data-in="key"${attribute('data-scope', scope)} placeholder="blk_…"></label>`;

const TOKEN_INPUT = html`<label><span>Access token</span><input type="password" data-in="token" placeholder="eyJ…"></label>`;

/** A field for each member of the body, and the whole body as JSON beside them. The script keeps the two equal. */
const bodyInputs = ({ schema, example }: NonNullable<Operation['body']>): Html => {
  const values = example as Readonly<Record<string, unknown>>;
  const text = JSON.stringify(example, null, 2);
  return html`<div class="body">
<div>${Object.keys(schema.properties ?? {}).map(
    (name) =>
      html`<label><span>${name}</span><input data-field="${name}"${attribute('value', values[name])}></label>`,
  )}</div>
<label><span>As JSON</span><textarea data-in="body" rows="${text.split('\n').length}">${text}</textarea></label>
</div>`;
};

/** Returns the form that sends a request from the page. The page's script handles it; without JavaScript it is hidden. */
export const tryForm = (operation: Operation, id: string): Html => {
  const { method, path, summary, takesKey, takesToken, scope, parameters, body } = operation;
  const returnsText = !returnsJson(operation) && raw(' data-returns="text"');
  return html`<form class="try" id="${id}-try" data-method="${method}" data-path="${path}"${returnsText}
 autocomplete="off" spellcheck="false" aria-label="Try: ${summary}">
<p class="path"><strong>Try it</strong> <code>${method} ${path}</code></p>
${takesKey && keyInput(scope)}
${takesToken && TOKEN_INPUT}
${parameters.map(parameterInput)}
${body && bodyInputs(body)}
<button type="submit">Execute</button>
<p class="result" role="status"></p>
<div class="answer" hidden></div>
</form>`;
};
