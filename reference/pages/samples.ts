import { copyButton } from './block.ts';
import { type Html, html, raw } from './html.ts';
import type { Operation, Parameter } from './operations.ts';
import { coloredParts } from './sample-colors.ts';
import { SAMPLE_LANGUAGES, type SampleRequest } from './sample-programs.ts';

/** The base URL in the samples. The page's script replaces it by the address of the page. */
export const SAMPLE_BASE_URL = 'http://localhost:3000';

/** Returns the URL of the sample: example values in the path, default values in the query. */
const urlOf = ({ path, parameters }: Operation): string => {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) =>
    String(parameters.find((parameter) => parameter.name === name)?.schema.example),
  );
  const query = parameters
    .filter(({ in: location, schema }) => location === 'query' && schema.default !== undefined)
    .map(({ name, schema }) => `${name}=${schema.default}`);
  return `${SAMPLE_BASE_URL}${filled}${query.length === 0 ? '' : `?${query.join('&')}`}`;
};

const returnsJson = ({ successes }: Operation): boolean => successes[0]?.mediaType === 'application/json';

/** Returns the example of an operation as a request. */
export const exampleRequest = (operation: Operation): SampleRequest => ({
  method: operation.method,
  url: urlOf(operation),
  takesKey: operation.takesKey,
  takesToken: operation.takesToken,
  body: operation.body?.example as object | undefined,
  returnsJson: returnsJson(operation),
});

const colored = (text: string): Html =>
  raw(
    coloredParts(text)
      .map(([name, part]) =>
        name === undefined ? html`${part}` : html`<span class="h-${name}">${part}</span>`,
      )
      .map(({ html: markup }) => markup)
      .join('')
      // Quotes need no escape in text.
      .replaceAll('&quot;', '"'),
  );

/** Returns the sample of an operation for curl. The page's script adds the other languages. */
export const sampleBlock = (operation: Operation): Html => {
  const { title, write } = SAMPLE_LANGUAGES.curl;
  return html`<figure class="block samples"><figcaption><span>${title}</span>${copyButton('en')}</figcaption>
<pre tabindex="0"><code>${colored(write(exampleRequest(operation)))}</code></pre></figure>`;
};

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
