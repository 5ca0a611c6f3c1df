/** What differs from run to run, and what stands for it. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b(sel|key|byr)_[\w-]{22}/g, '$1_'],
  [/(blk_(?:test|live)_)[0-9A-Za-z]+…?/g, '$1'],
  [/…[0-9A-Za-z]{4}\b/g, '…'],
  [/(last_four"?: "?)[0-9A-Za-z]{4}/g, '$1'],
  [/\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?/g, 'time'],
  [/local:\S+/g, 'local:who'],
  [/This minute: \d+ of (\d+); the next one begins in \d+ s/g, 'This minute: of $1'],
  [/(seconds\W+)[\d.]+/g, '$1'],
  // Frames are as wide as what they hold.
  [/[─━-]{2,}/g, '-'],
  [/ +/g, ' '],
];

/** A rendered document without what differs from run to run: two of them are equal if the commands answer the same. */
export const comparable = (text: string): string =>
  VOLATILE.reduce((result, [pattern, replacement]) => result.replace(pattern, replacement), text);
