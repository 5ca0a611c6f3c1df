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

/** On the local service, shows its demo: the values in the samples, and in each form a key that has the scope of its operation, unless the reader has entered one. */
export const showDemo = async () => {
  const [places, fields] = [all('[data-demo]'), all('.try [data-in="key"]')];
  const isLocal = document.documentElement.dataset.local !== undefined;
  if (!isLocal || places.length + fields.length === 0) return;
  const response = await fetch(`${base}/_local/demo`);
  if (!response.ok) return;
  const demo = await response.json();
  for (const place of places) {
    place.textContent = place.dataset.demo.split('.').reduce((part, key) => part[key], demo);
  }
  if (fields.some(({ value }) => value !== '')) return;
  for (const field of fields) {
    field.value = demo.keys_by_scope[field.dataset.scope] ?? demo.keys.free;
    field.previousElementSibling.textContent = 'API key of the demo seller';
  }
};
