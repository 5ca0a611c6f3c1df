import { all, base } from './dom.js';

/** What stands for the address of the service in the samples: that of `npm start`, or the reader's own. */
const ADDRESSES = /http:\/\/localhost:3000|https:\/\/…/g;

/** Shows the address of the service in the samples. */
export const showBase = () => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    const shown = data.replaceAll(ADDRESSES, base);
    if (shown !== data) texts.currentNode.data = shown;
  }
};

/** Returns the demo of the service on this machine: its seller and its keys. Returns undefined elsewhere. */
const readDemo = async () => {
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
  if (!isLocal || document.querySelector('[data-demo], [data-in="key"]') === null) return undefined;
  const response = await fetch(`${base}/_local/demo`);
  return response.ok ? response.json() : undefined;
};

/** Shows the values of the demo in the samples of a guide, or what stands for the reader's own values. */
const showValues = (demo) => {
  for (const place of all('[data-demo]')) {
    const { demo: name } = place.dataset;
    place.textContent = demo ? name.split('.').reduce((part, key) => part[key], demo) : 'blk_…';
  }
  // In the guides a quotation is a box about the service on the reader's machine.
  if (demo === undefined) for (const box of all('blockquote')) box.remove();
};

/** Shows the demo: its values in the samples, and in each form a key that has the scope of its operation, unless the reader has entered one. */
export const showDemo = async () => {
  const demo = await readDemo();
  showValues(demo);
  const fields = all('.try [data-in="key"]');
  if (demo === undefined || fields.some(({ value }) => value !== '')) return;
  for (const field of fields) {
    field.value = demo.keys_by_scope[field.dataset.scope] ?? demo.keys.free;
    field.previousElementSibling.textContent = 'API key of the demo seller';
  }
};
