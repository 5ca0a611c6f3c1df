import { coloredParts } from '../sample-colors.ts';
import { setUpCopyButton } from './copying.js';
import { element } from './dom.js';

/** Returns a text as nodes with colors. */
export const colored = (text) =>
  coloredParts(text).map(([name, part]) =>
    name === undefined ? part : Object.assign(element('span', part), { className: `h-${name}` }),
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
  const block = Object.assign(document.createElement('figure'), { className: 'block' });
  const caption = document.createElement('figcaption');
  const button = Object.assign(element('button', 'Copy'), { type: 'button', className: 'copy' });
  caption.append(element('span', title), button);
  const code = Object.assign(document.createElement('pre'), { tabIndex: 0 });
  code.append(...coloredJson(text));
  block.append(caption, code);
  setUpCopyButton(button);
  return block;
};
