import type { InferOutput } from 'valibot';
import type { keyUsageSchema } from '#shared/api-keys/schema.ts';
import type { DocsFile } from '#shared/docs/files.ts';
import { guideContents, TITLES } from './contents.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { assetsOf, page } from './page.ts';
import { textEntries } from './search.ts';
import type { Site } from './site.ts';

const { en: TITLE } = TITLES.key;

const INTRODUCTION = `# ${TITLE}

Shows what a key may do, what remains of its limits, and its requests in the last seven days. It makes two requests that count for the plan:
\`GET /v1/key\` and \`GET /v1/key/usage\`. The guide [Your key]({root}/docs/your-key) explains the figures and how to rotate a key.

The key stays in the memory of this page. When you leave the page, it is forgotten.`;

type Hour = InferOutput<typeof keyUsageSchema>['data'][number];

/** The counts of an hour by the names of the response. */
const COUNTS = {
  requests: 'Requests',
  refused_links: 'Refused links',
  failed_checks: 'Failed checks',
  failed_verifies: 'Failed verifications',
  sms: 'SMS',
} as const satisfies Record<Exclude<keyof Hour, 'hour'>, string>;

const COLUMNS = Object.entries(COUNTS).map(
  ([name, title]) => html`<th scope="col" data-count="${name}">${title}</th>`,
);

const PAID_CHECKS = html`<th scope="col">Paid checks</th>`;

/** Returns a table that the script fills. All columns but the first hold numbers. */
const table = (label: string, id: string, ...heads: readonly Html[]): Html =>
  html`<div class="scroll" role="region" aria-label="${label}" tabindex="0"><table class="numbers">
<thead><tr id="${id}-columns"><th scope="col">${label}</th>${heads}</tr></thead><tbody id="${id}-rows"></tbody></table></div>`;

/** Returns what the search finds on the page. */
export const keyEntries = () => textEntries({ page: TITLE, href: 'docs/key', text: INTRODUCTION });

/** Builds the page on which a seller sees its key. The script fills the figures. */
export const keyPage = (site: Site): DocsFile =>
  page({
    site,
    title: `${TITLE} · Buyer Linking`,
    assets: assetsOf('page', 'key'),
    content: html`${guideContents({ current: 'key' })}
<main class="guide"><article>
${markdown(INTRODUCTION)}
<p id="without-script">This page needs JavaScript. Without it, send the two requests yourself.</p>
<form class="try" id="key-form" aria-label="Show a key">
<label><span>API key</span><input type="password" data-in="key" autocomplete="off" placeholder="blk_…"
 required pattern="\\s*\\w+\\s*" title="Letters, digits and underscores, such as blk_…"></label>
<button type="submit">Show</button>
<p class="result" role="status"></p>
</form>
<div class="figures" id="figures" hidden>
<h2>Key</h2>
<table><tbody id="key-rows"></tbody></table>
<h2>Limits</h2>
${table('Limit', 'limit', html`<th scope="col">Remaining</th><th scope="col">Resets in</th>`)}
<h2>Use in the last seven days</h2>
<p id="summary"></p>
<div id="used">
<div class="chart scroll" id="chart" role="region" aria-label="Chart" tabindex="0"></div>
<p>A bar is the requests of an hour, in UTC; its red part are refused links, failed checks and failed verifications. Requests
that got 401, 403 or the 429 of the plan are not counted.</p>
${table('In seven days', 'total', html`<th scope="col">Total</th>`)}
<details><summary>Every hour with a count</summary>${table('Hour', 'hour', ...COLUMNS)}</details>
<details><summary>Every day with paid checks</summary>${table('Day', 'day', PAID_CHECKS)}</details>
</div>
</div>
</article></main>`,
  });
