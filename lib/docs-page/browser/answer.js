import { setUpCopyButton } from './copying.js';
import { element } from './dom.js';

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g;

const classOf = ([token, string, colon]) => {
  if (colon !== undefined) return 'h-attr';
  if (string !== undefined) return 'h-string';
  return /^[tfn]/.test(token) ? 'h-literal' : 'h-number';
};

/** Returns JSON with indentation and colors; any other text as it is. */
const colored = (text) => {
  let json;
  try {
    json = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return [text];
  }
  let end = 0;
  const parts = [...json.matchAll(TOKEN)].flatMap((match) => {
    const before = json.slice(end, match.index);
    const token = match[1] ?? match[0];
    end = match.index + token.length;
    return [before, Object.assign(element('span', token), { className: classOf(match) })];
  });
  return [...parts, json.slice(end)];
};

/** Returns a block with a button to copy it. */
export const blockOf = (title, text) => {
  const block = Object.assign(document.createElement('figure'), { className: 'block' });
  const caption = document.createElement('figcaption');
  const button = Object.assign(element('button', 'Copy'), { type: 'button', className: 'copy' });
  caption.append(element('span', title), button);
  const code = Object.assign(document.createElement('pre'), { tabIndex: 0 });
  code.append(...colored(text));
  block.append(caption, code);
  setUpCopyButton(button);
  return block;
};
