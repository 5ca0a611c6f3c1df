import { all, base, element } from './dom.js';

const resultOf = ({ title, page, href }) =>
  element('li', {}, element('a', { href: `${base}/${href}` }, title, ' ', element('small', {}, page)));

/** What readers call things that have another name here. Each word finds the places of the other too. */
const SYNONYMS = {
  webhook: 'event',
  callback: 'event',
  idempotency: 'retries',
  idempotent: 'retries',
  sdk: 'client',
  library: 'client',
  otp: 'code',
  login: 'sign',
  tenant: 'seller',
  pagination: 'pages',
  cursor: 'next_after',
};

/** Returns the synonym of a word, or of its singular; the word itself if it has none. */
const synonymOf = (word) => SYNONYMS[word] ?? SYNONYMS[word.replace(/s$/, '')] ?? word;

/** Returns the entries that have every word, those first of whose title they are the largest part. */
const find = (entries, words) => {
  const isIn = (text) => (word) => text.includes(word) || text.includes(synonymOf(word));
  const partOf = ({ title }) => words.filter(isIn(title.toLowerCase())).join('').length / title.length;
  return entries
    .filter((entry) => {
      const text = `${entry.title} ${entry.page} ${entry.words}`.toLowerCase();
      return words.every(isIn(text));
    })
    .sort((a, b) => partOf(b) - partOf(a));
};

/** Searches the headings of all pages, the fields, the error codes and the limits. The index is loaded at the first search. */
export const setUpSearch = () => {
  const [field, found, results, lists] = all('#search, #found, #results, #lists');
  let index;
  const load = async () => {
    const response = await fetch(`${base}/docs/search`);
    if (!response.ok) throw new Error(`status ${response.status}`);
    return response.json();
  };
  const show = (entries, status) => {
    results.replaceChildren(...entries.map(resultOf));
    found.textContent = status;
  };
  field.addEventListener('input', async () => {
    const { value } = field;
    const words = value
      .toLowerCase()
      .split(/[\s?؟]+/)
      .filter(Boolean);
    lists.hidden = words.length > 0;
    if (words.length === 0) return show([], '');
    index ??= load();
    try {
      const entries = find(await index, words);
      if (field.value === value) show(entries, found.dataset.text.replace('{}', entries.length));
    } catch (error) {
      index = undefined;
      show([], `The search could not be loaded: ${error.message}`);
    }
  });
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') results.querySelector('a')?.click();
  });
  document.addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, target } = event;
    const isShortcut = key === '/' ? !target.matches('input, textarea') : key === 'k' && (ctrlKey || metaKey);
    if (!isShortcut) return;
    event.preventDefault();
    field.closest('details').open = true;
    field.focus();
    field.select();
  });
};
