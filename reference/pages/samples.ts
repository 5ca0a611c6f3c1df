import { copyButton } from './block.ts';
import type { Operation } from './document.ts';
import { type Html, html, raw } from './html.ts';
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

/** Returns whether the response of an operation has a JSON body. */
export const returnsJson = ({ successes }: Operation): boolean =>
  successes[0]?.mediaType === 'application/json';

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
