import { all, base } from './dom.js';

/** Stands for a value that a reader of a deployment has. */
const ownValue = (name) => (name === 'seller_id' ? 'sel_…' : 'blk_…');

const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);

const isNeeded = () => document.querySelector('[data-demo], [data-in="key"]') !== null;

/** Returns the demo of the service on this machine: its seller and its keys. Returns undefined elsewhere. */
export const readDemo = async () => {
  if (!isLocal || !isNeeded()) return undefined;
  const response = await fetch(`${base}/_local/demo`);
  return response.ok ? response.json() : undefined;
};

/** Shows the address of the service in the samples. */
export const showBase = () => {
  const texts = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data } = texts.currentNode;
    if (data.includes('http://localhost:3000'))
      texts.currentNode.data = data.replaceAll('http://localhost:3000', base);
  }
};

/** Shows the values of the demo in the samples of a guide, or what stands for the reader's own values. */
export const showValues = (demo) => {
  for (const place of all('[data-demo]')) {
    const { demo: name } = place.dataset;
    place.textContent =
      demo === undefined ? ownValue(name) : name.split('.').reduce((part, key) => part[key], demo);
  }
};
