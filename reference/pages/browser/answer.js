import { coloredParts } from '../sample-colors.ts';
import { element } from './dom.js';

/** Returns a text as nodes with colors. */
export const colored = (text) =>
  coloredParts(text).map(([name, part]) =>
    name === undefined ? part : element('span', { className: `h-${name}` }, part),
  );

/** Returns JSON with indentation and colors; any other text as it is. */
const coloredJson = (text) => {
  try {
    return colored(JSON.stringify(JSON.parse(text), null, 2));
  } catch {
    return [text];
  }
};

/** Returns a block with a button to copy it. */
export const blockOf = (title, text) => {
  const button = element('button', { type: 'button', className: 'copy' }, 'Copy');
  const caption = element('figcaption', {}, element('span', {}, title), button);
  return element(
    'figure',
    { className: 'block' },
    caption,
    element('pre', { tabIndex: 0 }, ...coloredJson(text)),
  );
};

/** Copies the block around the button. */
export const copyBlock = async (button) => {
  await navigator.clipboard.writeText(button.closest('figure').querySelector('pre').textContent);
  button.textContent = document.documentElement.lang === 'fa' ? 'کپی شد' : 'Copied';
};
