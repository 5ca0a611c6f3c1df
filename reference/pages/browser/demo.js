import { all, base } from './dom.js';

/** What a reader of a deployment replaces by an own value. Only the local service has a key of the buyer app for readers. */
const OWN_VALUES = {
  seller_id: 'sel_…',
  'keys.free': 'blk_…',
  'keys.events': 'blk_…',
  'keys.rotate': 'blk_…',
};

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
      demo === undefined
        ? (OWN_VALUES[name] ?? place.textContent)
        : name.split('.').reduce((part, key) => part[key], demo);
  }
};
