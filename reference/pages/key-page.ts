import type { Page } from '#shared/pages.ts';
import { COUNTS } from './browser/key-texts.ts';
import { KEY_PAGE_TITLE } from './contents.ts';
import { guideContents } from './guide.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { assetsOf, page } from './page.ts';
import { textEntries } from './search.ts';

const INTRODUCTION = `# ${KEY_PAGE_TITLE}

Shows what a key may do, what remains of its limits, and its requests in the last seven days. It makes two requests that count for the plan:
\`GET /v1/key\` and \`GET /v1/key/usage\`. The guide [Your key](your-key) explains the figures and how to rotate a key.

The key stays in the memory of this page. When you leave the page, it is forgotten.`;

/** Returns a table that the script fills. All columns but the first hold numbers. */
const table = (label: string, id: string, columns: readonly string[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table class="numbers">
<thead><tr>${columns.map((column) => html`<th scope="col">${column}</th>`)}</tr></thead>
<tbody id="${id}"></tbody></table></div>`;

const LEGEND = html`<figcaption class="legend"><span>Other requests</span>
<span class="refused">Refused links, failed checks, failed verifications</span></figcaption>`;

/** What the script fills with the figures of a key. */
const FIGURES = html`<div class="figures" id="figures" hidden>
<h2>Key</h2>
<table><tbody id="key-rows"></tbody></table>
<h2>Limits</h2>
${table('Limits', 'limit-rows', ['Limit', 'Remaining', 'Resets in'])}
<h2>Use in the last seven days</h2>
<p id="summary"></p>
<div data-if="used">
<figure class="chart">
<div class="scroll" id="chart" role="region" aria-label="Chart" tabindex="0"></div>
${LEGEND}
</figure>
<p>Hours and days are in UTC. Requests that got 401, 403 or the 429 of the plan are not counted.</p>
${table('Totals', 'total-rows', ['Counted', 'Total'])}
<details><summary>Every hour with a count</summary>
${table('Hours', 'hour-rows', ['Hour', ...Object.values(COUNTS)])}
</details>
<details><summary>Every day with paid checks</summary>
${table('Days', 'day-rows', ['Day', 'Paid checks'])}
</details>
</div>
</div>`;

/** Returns what the search finds on the page. */
export const keyEntries = () => textEntries({ page: KEY_PAGE_TITLE, href: 'docs/key', text: INTRODUCTION });

/** Builds the page on which a seller sees its key. */
export const keyPage = (): Page =>
  page({
    title: `${KEY_PAGE_TITLE} · Buyer Linking`,
    root: '..',
    assets: assetsOf('page', 'key'),
    content: html`${guideContents('', 'key')}
<main class="guide"><article>
${markdown(INTRODUCTION)}
<p class="without-script">This page needs JavaScript. Without it, send the two requests yourself.</p>
<form class="try" id="key-form" aria-label="Show a key">
<label><span>API key</span><input type="password" data-in="key" autocomplete="off" placeholder="blk_…"></label>
<button type="submit">Show</button>
<p class="result" role="status"></p>
</form>
${FIGURES}
</article></main>`,
  });
