import { type Html, html } from './html.ts';

/** Returns the panel beside a page: the search, and what `lists` holds. On a phone the page's script closes it. */
export const contents = (
  lists: readonly Html[],
): Html => html`<details class="contents" open lang="en" dir="ltr">
<summary>Contents</summary>
<nav aria-label="Contents">
${lists}
</nav>
</details>`;
