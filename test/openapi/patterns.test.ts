import { buildDocument } from '#openapi/document.ts';
import { itForAll } from '#test/for-all.ts';

/** Every `pattern` below a node, with where it is. */
const patternsIn = (node: unknown, path = '#'): readonly (readonly [string, string])[] => {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'pattern' && typeof value === 'string'
      ? [[path, value] as const]
      : patternsIn(value, `${path}/${key}`),
  );
};

/** What ECMAScript, RE2, PCRE2 and Python read alike. */
const COMMON = [
  // An escape of a character that has a meaning.
  /\\[\\^$.*+?()[\]{}|/]/,
  // A class of ASCII, with ranges of letters and digits.
  /\[\^?(?:[A-Z]-[A-Z]|[a-z]-[a-z]|[0-9]-[0-9]|\\[\\\]\-^[]|[A-Za-z0-9 ._:/+,;@"'#=])+\]/,
  // A group, the end of one and an alternative.
  /\((?:\?:)?(?!\?)|[)|]/,
  // A quantifier, without another one behind it.
  /(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})(?![*+?{])/,
  // An anchor, or a character that has no meaning.
  /[\^$A-Za-z0-9 _:;,"'=@/-]/,
].map(({ source }) => source);

const isCommon = (pattern: string): boolean => new RegExp(`^(?:${COMMON.join('|')})*$`).test(pattern);

describe('the patterns of the document', () => {
  const patterns = patternsIn(buildDocument());

  it('are there', () => {
    expect(patterns.length).toBeGreaterThan(0);
  });

  itForAll(patterns)('compile in ECMAScript without a flag, with u and with v', (_path, pattern) => {
    for (const flag of ['', 'u', 'v']) expect(() => new RegExp(pattern, flag)).not.toThrow();
  });

  itForAll(patterns)('use only what ECMAScript, RE2, PCRE2 and Python read alike', (_path, pattern) => {
    expect(isCommon(pattern)).toBe(true);
  });
});

describe('the common part of the dialects', () => {
  itForAll([
    ['an escape of a class', '^\\d+$'],
    ['an escape of spaces', '\\S'],
    ['an escape of words', '^\\w$'],
    ['a boundary', '\\bx'],
    ['an escape of a code unit', '[\\u06f0-\\u06f9]'],
    ['a property', '\\p{L}'],
    ['a back reference', '(x)\\1'],
    ['a lookahead', '(?=x)'],
    ['a lookbehind', '(?<!x)y'],
    ['a named group', '(?<name>x)'],
    ['a named group of Python', '(?P<name>x)'],
    ['a flag', '(?i)x'],
    ['an atomic group', '(?>x)'],
    ['a possessive quantifier', 'x*+y'],
    ['an escape of the end', 'x\\z'],
    ['a hyphen in a class without its escape', '[._:-]'],
    ['a hyphen at the beginning of a class', '[-0-9]'],
    ['a range of other letters', '[ء-ي]'],
    ['an escaped letter', '\\-x'],
    ['an operator of the flag v', '[a--b]'],
    ['a nested class', '[[a]]'],
    ['a POSIX class', '[[:alpha:]]'],
  ])('leaves out what only some of them read', (_case, pattern) => {
    expect(isCommon(pattern)).toBe(false);
  });
});
