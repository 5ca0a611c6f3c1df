import fc from 'fast-check';
import { parseDisplayName } from '#shared/users/display-name.ts';

const ASTRAL = '𐎀';

describe('parseDisplayName', () => {
  it.each([
    ['a Latin name', 'Sara Ahmadi'],
    ['a Persian name', 'سارا احمدی'],
    ['a zero-width non-joiner, which Persian names need', 'مهدی\u200cپور'],
    ['a zero-width joiner', '👩\u200d💻'],
    ['one character', 'س'],
    ['an apostrophe and a hyphen', "O'Brien-Šimić"],
    ['left-to-right and right-to-left marks', 'Sara\u200e \u200fسارا'],
    ['markup, which is the business of whoever shows it', '<b>Sara</b>'],
  ])('takes %s as it stands', (_case, name) => {
    expect(parseDisplayName(name)).toBe(name);
  });

  it.each([
    ['spaces', '  Sara  '],
    ['tabs and line ends', '\t\r\nSara\n'],
    ['no-break and ideographic spaces', '\u00a0\u3000Sara\u2003'],
    ['a byte-order mark', '\ufeffSara'],
  ])('trims %s', (_case, text) => {
    expect(parseDisplayName(text)).toBe('Sara');
  });

  it('gives NFC, so that one name has one spelling', () => {
    expect(parseDisplayName('Zoe\u0308')).toBe('Zo\u00eb');
  });

  it.each([
    ['100 letters', 'a'.repeat(100)],
    ['100 characters beyond the basic plane', ASTRAL.repeat(100)],
    ['200 code units that compose to 100 characters', 'e\u0301'.repeat(100)],
    ['100 letters between spaces', ` ${'a'.repeat(100)} `],
  ])('takes %s', (_case, text) => {
    expect(parseDisplayName(text)).toBeDefined();
  });

  it.each([
    ['nothing', ''],
    ['spaces alone', ' \u00a0\t'],
    ['101 letters', 'a'.repeat(101)],
    ['101 characters beyond the basic plane', ASTRAL.repeat(101)],
    ['60 characters that NFC takes apart into 120', '\u0958'.repeat(60)],
    ['100 KB', 'a'.repeat(100_000)],
    ['a zero byte', 'Sa\u0000ra'],
    ['a line end within', 'Sara\nAhmadi'],
    ['a tab within', 'Sara\tAhmadi'],
    ['an escape sequence', 'Sara\u001b[31m'],
    ['delete', 'Sara\u007f'],
    ['a C1 control', 'Sara\u0085Ahmadi'],
    ['a lone high surrogate', 'Sara\ud83d'],
    ['a lone low surrogate', '\udca9Sara'],
    ['surrogates in the wrong order', 'Sa\udca9\ud83dra'],
  ])('refuses %s', (_case, text) => {
    expect(parseDisplayName(text)).toBeUndefined();
  });

  it.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'])(
    'refuses a bidi embedding, override or isolate (case %#)',
    (mark) => {
      expect(parseDisplayName(`Sara${mark}Ahmadi`)).toBeUndefined();
      expect(parseDisplayName(mark)).toBeUndefined();
    },
  );

  it('gives what it gave when it is given that again, and never more than 100 characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 120 }), (text) => {
        const name = parseDisplayName(text);
        expect(parseDisplayName(name ?? '')).toBe(name);
        expect(Array.from(name ?? '').length).toBeLessThanOrEqual(100);
      }),
      { numRuns: 1000 },
    );
  });
});
