import { SCOPES } from '#shared/scopes.ts';

/**
 * What of a description stands in backticks: requests, headers, scopes, types of events, limits of a key, and fields and codes with an
 * underscore. A field of one word is written with backticks where it is described.
 */
const NAMES = [
  '(?:GET|POST|PATCH|DELETE) /[\\w/{}.?=-]*[\\w/}=]',
  '/docs\\b',
  '/\\.well-known/[a-z-]+(?:\\.json)?',
  'Authorization: Bearer',
  'Content-Type: application/json',
  'Retry-After',
  'X-[A-Z][A-Za-z-]+',
  ...SCOPES,
  'user\\.(?:linked|updated|removed)',
  '[a-z]+(?:-[a-z]+)*-per-(?:hour|day)',
  '[a-z]+(?:_[a-z]+)+',
  'lnk_',
  'usr_',
  '"errors"',
];

const NAME = new RegExp(`(?<![\\w/-])(?:${NAMES.join('|')})(?![\\w-])`, 'g');

/** Returns a text as Markdown, with the names in backticks. What is within backticks already stays. */
export const markdown = (text: string): string =>
  text
    .split(/(`[^`]*`)/)
    .map((part) =>
      part.startsWith('`') ? part : part.replace(NAME, (name) => `\`${name.replaceAll('"', '')}\``),
    )
    .join('');

/** Examples hold values of the interface, and no text about it. */
const isText = (key: string, value: unknown): value is string =>
  key === 'description' && typeof value === 'string';

/** Returns a copy of a part of the document with each description as Markdown. */
export const withMarkdown = <Node>(node: Node): Node => {
  if (Array.isArray(node)) return node.map(withMarkdown) as Node;
  if (typeof node !== 'object' || node === null) return node;
  return Object.fromEntries(
    Object.entries(node).map(([key, value]) => [
      key,
      isText(key, value) ? markdown(value) : withMarkdown(value),
    ]),
  ) as Node;
};
