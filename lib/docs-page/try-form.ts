import type { Operation, Parameter } from './document.ts';
import { type Html, html, raw } from './html.ts';

const attribute = (name: string, value: unknown): Html | false =>
  value !== undefined && html` ${raw(name)}="${String(value)}"`;

/** A path parameter starts empty: the page fills it with an id of an earlier response. */
const parameterInput = ({ name, in: location, required, schema }: Parameter): Html =>
  html`<label><span>${name}</span><input name="${name}" data-in="${location}"
 autocomplete="off" spellcheck="false"${attribute('value', schema.default)}${attribute('placeholder', schema.example)}
${required && raw('required')}></label>`;

const KEY_INPUT = html`<label><span>API key</span><input type="password" data-in="key" autocomplete="off"
 placeholder="blk_…"></label>`;

const bodyInput = (example: unknown): Html => {
  const text = JSON.stringify(example, null, 2);
  return html`<label><span>Body</span><textarea data-in="body" spellcheck="false"
 rows="${text.split('\n').length}">${text}</textarea></label>`;
};

/** Returns the form that sends a request from the page. The page's script handles it; without JavaScript it is hidden. */
export const tryForm = (operation: Operation, id: string): Html => {
  const { method, path, summary, takesKey, parameters, body } = operation;
  return html`<form class="try" id="${id}-try" data-method="${method}" data-path="${path}" aria-label="Try: ${summary}">
<p class="path"><strong>Try it</strong> <code>${method} ${path}</code></p>
${takesKey && KEY_INPUT}
${parameters.map(parameterInput)}
${body && bodyInput(body.example)}
<button type="submit">Execute</button>
<p class="result" role="status"></p>
<div class="answer" hidden></div>
</form>`;
};
