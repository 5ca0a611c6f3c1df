import { type Html, html, raw } from './html.ts';
import { type Language, WORDS } from './language.ts';

export const KEY_PAGE_TITLE = WORDS.en.key;

/** Returns a link to the page of a key. `folder` is the path from the page to it. */
export const keyPageLink = (folder: string, { isCurrent = false, language = 'en' as Language } = {}): Html =>
  html`<li><a href="${folder}key"${isCurrent && raw(' aria-current="page"')}>${WORDS[language].key}</a></li>`;

/** Returns the panel beside a page: the search, and what `lists` holds. On a phone the page's script closes it. */
export const contents = (lists: readonly Html[], language: Language = 'en'): Html => {
  const words = WORDS[language];
  return html`<details class="contents" open>
<summary>${words.contents}</summary>
<nav aria-label="${words.contents}">
<label class="search"><span>${words.search} <kbd aria-hidden="true">/</kbd></span>
<input type="search" id="search" autocomplete="off" aria-keyshortcuts="/ Control+K"></label>
<p id="found" role="status" data-text="${words.found}"></p>
<ul id="results"></ul>
<div id="lists">${lists}</div>
</nav>
</details>`;
};
