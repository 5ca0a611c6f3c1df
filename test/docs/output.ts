import type { Command, Output, Page } from './page.ts';

/** What differs from run to run, and what stands for it in a comparison. */
const VOLATILE: readonly (readonly [RegExp, string])[] = [
  [/usr_\w+/g, 'usr_id'],
  [/"request_id":"[^"]+"/g, '"request_id":"id"'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'time'],
  [/eyJ[\w.-]+…?/g, 'token'],
  [/\b([rt])=\d+/g, '$1=n'],
];

const masked = (text: string): string =>
  VOLATILE.reduce((result, [pattern, name]) => result.replace(pattern, name), text.replaceAll('\r', ''));

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** `…` stands for any text in a line, and a line of its own for any number of lines. */
const patternOf = (shown: string): RegExp =>
  new RegExp(`^${escaped(shown).replace(/^…\n/gm, '(?:.*\\n)*').replaceAll('…', '.*')}$`);

const headerLines = (text: string): string[] => masked(text).trim().toLowerCase().split('\n');

/** Returns whether a command printed what its page shows. Of HTTP only the lines that are shown must exist. */
const isAsShown = (printed: string, shown: Output): boolean =>
  shown.language === 'http'
    ? headerLines(shown.text).every((line) => headerLines(printed).includes(line))
    : patternOf(masked(shown.text)).test(masked(printed));

/** Installers print what depends on their version and cache. */
const INSTALLS = /^(?:npm|python3 -m venv|.*\bpip install)\b/m;

/** Returns what is wrong with the output of a command; undefined if nothing is. */
export const faultOf = (printed: string, { text, shown }: Command): string | undefined => {
  if (shown !== undefined)
    return isAsShown(printed, shown) ? undefined : 'prints something other than its page shows';
  return printed === '' || INSTALLS.test(text) ? undefined : 'prints what its page does not show';
};

const isCommand = (step: object): step is Command => !('name' in step);

/** Returns the commands of a page that did not print what it shows. */
export const faultsOf = ({ steps }: Page, printed: readonly string[]): readonly object[] =>
  steps.filter(isCommand).flatMap((command, index) => {
    const fault = faultOf(printed[index] ?? '', command);
    return fault === undefined
      ? []
      : [{ fault, command: command.text, printed: printed[index], shown: command.shown?.text }];
  });
