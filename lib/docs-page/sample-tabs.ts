import type { Operation } from './document.ts';
import { type Html, html, raw } from './html.ts';
import { LANGUAGES, type Language, samplesOf } from './samples.ts';

const NAMES = Object.keys(LANGUAGES) as Language[];

/** Strings and the words that begin a statement get a color; more would need a parser of each language. */
const TOKENS = /(&quot;.*?&quot;|'[^']*'(?!\w))|\b(await|const|curl|except|if|import|new|throw|try|with)\b/g;

const colored = (sample: string): Html =>
  raw(
    html`${sample}`.html.replace(TOKENS, (_, string?: string, word?: string) =>
      string === undefined ? `<b>${word}</b>` : `<i>${string}</i>`,
    ),
  );

/** Returns the samples of an operation as tabs. Radio buttons select one, so they work by keyboard and without JavaScript. */
export const sampleTabs = (operation: Operation): Html => {
  const samples = samplesOf(operation);
  const tab = (name: Language): Html => html`<label><input type="radio" name="${operation.id}-language"
 value="${name}" ${name === NAMES[0] ? raw('checked') : undefined}><span>${LANGUAGES[name]}</span></label>`;
  return html`<fieldset class="samples"><legend>${operation.summary}: code samples</legend>
<div class="tabs">${NAMES.map(tab)}</div>
${NAMES.map((name) => html`<pre data-language="${name}"><code>${colored(samples[name])}</code></pre>`)}
</fieldset>`;
};
