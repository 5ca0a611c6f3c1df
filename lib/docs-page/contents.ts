import { type Html, html } from './html.ts';

/** Returns the panel beside a page: the search, and what `lists` holds. On a phone the page's script closes it. */
export const contents = (
  lists: readonly Html[],
): Html => html`<details class="contents" open lang="en" dir="ltr">
<summary>Contents</summary>
<nav aria-label="Contents">
<label class="search"><span>Search <kbd aria-hidden="true">/</kbd></span>
<input type="search" id="search" autocomplete="off" aria-keyshortcuts="/ Control+K"></label>
<p id="found" role="status"></p>
<ul id="results"></ul>
<div id="lists">${lists}</div>
</nav>
</details>`;
