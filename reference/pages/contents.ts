import { type Html, html, raw } from './html.ts';

export const KEY_PAGE_TITLE = 'Plan and use of a key';

/** Returns a link to the page of a key. `folder` is the path from the page to it. */
export const keyPageLink = (folder: string, isCurrent = false): Html =>
  html`<li><a href="${folder}key"${isCurrent && raw(' aria-current="page"')}>${KEY_PAGE_TITLE}</a></li>`;

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
