import { stripVTControlCharacters } from 'node:util';

/** A command of the admin CLI as a page shows it after `$ npm run admin --`, and the lines of the terminal below it. */
export interface ConsoleCommand {
  readonly words: readonly string[];
  readonly shown: readonly string[];
}

const WORDS = /"([^"]*)"|(\S+)/g;

/** Returns the words of a command line without its comment. */
const wordsOf = (line: string): string[] =>
  [...line.replace(/\s+# .*$/, '').matchAll(WORDS)].map(([, quoted, plain]) => quoted ?? plain ?? '');

/** Returns the commands in the `console` blocks of a page. */
export const consoleCommandsOf = (markdown: string): readonly ConsoleCommand[] =>
  [...markdown.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ npm run admin -- /m)
      .slice(1)
      .map((text) => {
        const [line = '', ...shown] = text.trimEnd().split('\n');
        return { words: wordsOf(line), shown: shown.filter((text) => text !== '') };
      }),
  );

/** What differs from run to run, and what stands for it in a comparison. A plural depends on the number before it. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/\b(sel|key|usr)_\w+/g, '$1_id'],
  [/\bblk_test_[^\s,]+/g, 'key'],
  // The last four characters of a secret, before who created it.
  [/^\w{4}(?= +(?:admin|seller) )/, 'four'],
  [/\d{4}-\d\d-\d\d(?: \d\d:\d\d)?/g, 'time'],
  [/\b\d+ (?:s|min|h|d)(?: \d+ (?:min|h))?(?!\S)/g, 'duration'],
  [/\d[\d,]*/g, 'n'],
  [/\bn ([a-z]+?)s?\b/g, 'n $1'],
  [/\s+/g, ' '],
];

const masked = (line: string): string =>
  VOLATILE.reduce((result, [pattern, name]) => result.replace(pattern, name), line).trim();

/** Returns the lines that a page shows and the terminal does not, but for ids, keys, times and numbers. */
export const linesNotPrinted = (screen: string, { shown }: ConsoleCommand): readonly string[] => {
  const printed = new Set(stripVTControlCharacters(screen).split('\n').map(masked));
  return shown.filter((line) => !printed.has(masked(line)));
};

/** Returns what the page types at the questions of a command: after a colon, or after [y/N]. */
export const answersOf = ({ shown }: ConsoleCommand): (readonly [string, string])[] =>
  shown.flatMap((line) => {
    const [, question, typed] = /^(.*(?:\[y\/N\]|^Phone:)) (\S+)$/.exec(line) ?? [];
    return question === undefined ? [] : [[question.includes('[y/N]') ? '[y/N]' : question, typed ?? '']];
  });
