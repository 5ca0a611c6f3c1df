import { mock } from 'node:test';
import fc from 'fast-check';
import { parseDisplayName } from '#shared/values/display-name.ts';
import { itForAll } from '#test/for-all.ts';
import { anyText } from '#test/shared/any-script.ts';

const ASTRAL = '𐎀';

/** Four characters that compose to one: the most that one character decomposes into. */
const DECOMPOSED_CHARACTER = '\u1f82'.normalize('NFD');

describe('parseDisplayName', () => {
  itForAll([
    ['a Latin name', 'Sara Ahmadi'],
    ['a Persian name', 'سارا احمدی'],
    ['a zero-width non-joiner, which Persian names need', 'مهدی\u200cپور'],
    ['a zero-width non-joiner after a letter with a mark', 'مهدیِ\u200cپور'],
    ['a zero-width non-joiner before a space, where nobody sees it', 'مهدی\u200c پور'],
    ['a zero-width non-joiner after a space', 'مهدی \u200cپور'],
    ['a zero-width non-joiner before a digit', 'مهدی\u200c۲'],
    ['a zero-width joiner between emoji', '👩\u200d💻'],
    ['emoji with a skin tone and a gender', '👩🏽\u200d🚀 🏃🏿\u200d♀\ufe0f'],
    ['emoji with a variation selector before the joiner', '🏳\ufe0f\u200d🌈 👁\ufe0f\u200d🗨\ufe0f'],
    ['a family', '👨\u200d👩\u200d👧\u200d👦'],
    ['a keycap', '1\ufe0f\u20e3'],
    ['a keycap of a punctuation mark', '#\ufe0f\u20e3'],
    ['an emoji as text', '☺\ufe0e'],
    ['Han characters with glyph selectors', '葛\u{e0100}城\ufe00'],
    ['letters with two marks each', 'مُحَمَّد'],
    ['four marks in a row', 'q\u0323\u0302\u0303\u0304'],
    ['one letter', 'س'],
    ['one digit', '۷'],
    ['one symbol', '★'],
    ['one emoji', '🙂'],
    ['an emoji that Unicode counts as punctuation', '‼️'],
    ['an apostrophe and a hyphen', "O'Brien-Šimić"],
    ['markup, which a page that shows it must escape', '<b>Sara</b>'],
  ])('accepts names of every script, emoji and markup unchanged', (_case, name) => {
    expect(parseDisplayName(name)).toBe(name);
  });

  itForAll([
    ['spaces', '  Sara  '],
    ['tabs and line ends', '\t\r\nSara\n'],
    ['no-break and ideographic spaces', '\u00a0\u3000Sara\u2003'],
    ['a byte-order mark', '\ufeffSara'],
    ['10,000 spaces', `${' '.repeat(10_000)}Sara`],
    ['a left-to-right mark behind', 'Sara\u200e'],
    ['a right-to-left mark before', '\u200fSara'],
    ['an Arabic letter mark', '\u061cSara\u061c'],
    ['a zero-width non-joiner behind', 'Sara\u200c'],
    ['a zero-width joiner before', '\u200dSara'],
    ['several of these', ' \u200f\u200c Sara\u200d \u200e'],
  ])('trims white space, joiners and direction marks of every kind', (_case, text) => {
    expect(parseDisplayName(text)).toBe('Sara');
  });

  it('returns NFC, so that one name has one spelling', () => {
    expect(parseDisplayName('Zoe\u0308')).toBe('Zo\u00eb');
  });

  itForAll([
    ['100 letters', 'a'.repeat(100)],
    ['100 characters beyond the basic plane', ASTRAL.repeat(100)],
    ['200 code units that compose to 100 characters', 'e\u0301'.repeat(100)],
    ['400 code units that compose to 100 characters', DECOMPOSED_CHARACTER.repeat(100)],
    ['100 letters between spaces', ` ${'a'.repeat(100)} `],
  ])('accepts 100 characters, however many code units they take', (_case, text) => {
    expect(parseDisplayName(text)).toBe(text.trim().normalize('NFC'));
  });

  itForAll([
    ['an empty string', ''],
    ['spaces only', ' \u00a0\t'],
    ['101 letters', 'a'.repeat(101)],
    ['101 characters beyond the basic plane', ASTRAL.repeat(101)],
    ['60 characters that NFC decomposes into 120', '\u0958'.repeat(60)],
    ['100 KB', 'a'.repeat(100_000)],
    ['a zero byte', 'Sa\u0000ra'],
    ['a line end within', 'Sara\nAhmadi'],
    ['a tab within', 'Sara\tAhmadi'],
    ['an escape sequence', 'Sara\u001b[31m'],
    ['delete', 'Sara\u007f'],
    ['a C1 control', 'Sara\u0085Ahmadi'],
    ['a line separator within', 'Sara\u2028Ahmadi'],
    ['a paragraph separator within', 'Sara\u2029Ahmadi'],
    ['a lone high surrogate', 'Sara\ud83d'],
    ['a lone low surrogate', '\udca9Sara'],
    ['surrogates in the wrong order', 'Sa\udca9\ud83dra'],
    ['a zero-width space', 'Sa\u200bra'],
    ['a word joiner', 'Sa\u2060ra'],
    ['a byte-order mark within', 'Sa\ufeffra'],
    ['a soft hyphen', 'Sa\u00adra'],
    ['a combining grapheme joiner', 'Sa\u034fra'],
    ['a Mongolian vowel separator', 'Sa\u180era'],
    ['a Hangul filler', 'Sa\u3164ra'],
    ['a blank Braille pattern', 'Sara\u2800'],
    ['a null notehead', 'Sara\u{1d159}'],
    ['a blank hieroglyph', 'Sara\u{13441}'],
    ['a joiner of hieroglyphs', 'Sa\u{13430}ra'],
    ['a Khitan filler', 'Sara\u{16fe4}'],
    ['a left-to-right mark within', 'Sara\u200eAhmadi'],
    ['a right-to-left mark within', 'سارا\u200fاحمدی'],
    ['an Arabic letter mark within', 'سارا\u061cاحمدی'],
    ['interlinear annotation', 'Sara\ufff9a\ufffab\ufffb'],
    ['the character that replaces bytes that are not UTF-8', 'Sar\ufffd'],
    ['an object replacement character', 'Sara\ufffc'],
    ['a noncharacter of the basic plane', 'Sara\uffff'],
    ['a noncharacter of the Arabic block', 'Sara\ufdd0'],
    ['a noncharacter of the last plane', 'Sara\u{10ffff}'],
    ['an ignorable character that is not assigned', 'Sara\u{e0fff}'],
    ['five combining marks in a row', 'q\u0323\u0302\u0303\u0304\u0305'],
    ['two variation selectors in a row', '☺\ufe0f\ufe0f'],
    ['an emoji selector after a letter', 'Sara\ufe0f'],
    ['a text selector after a letter', 'Sa\ufe0era'],
    ['an emoji selector after a digit without a keycap', '1\ufe0f'],
    ['a glyph selector after a letter', 'Sara\ufe00'],
    ['a glyph selector after an emoji', '☺\ufe00'],
    ['an ideographic selector after a letter', 'Sara\u{e0100}'],
    ['an emoji selector after a Han character', '葛\ufe0f'],
    ['a Mongolian selector', 'ᠠ\u180b'],
    ['a zero-width non-joiner between Latin letters', 'Sa\u200cra'],
    ['a zero-width non-joiner beside no letter of the Arabic script', 'مهدی \u200c پور'],
    ['two zero-width non-joiners', 'مهدی\u200c\u200cپور'],
    ['a zero-width joiner between letters', 'Sa\u200dra'],
    ['a zero-width joiner after an emoji', '👩\u200d '.concat('x')],
    ['two zero-width joiners', '👩\u200d\u200d💻'],
  ])('rejects names of a wrong length, and characters that names do not have', (_case, text) => {
    expect(parseDisplayName(text)).toBeUndefined();
  });

  itForAll([
    ['a Hangul filler (U+3164)', '\u3164'],
    ['a Hangul choseong filler (U+115F)', '\u115f'],
    ['a Hangul jungseong filler (U+1160)', '\u1160'],
    ['a half-width Hangul filler (U+FFA0)', '\uffa0'],
    ['a blank Braille pattern (U+2800)', '\u2800'],
    ['an object replacement character (U+FFFC)', '\ufffc'],
    ['a null notehead (U+1D159)', '\u{1d159}'],
    ['a full blank hieroglyph (U+13441)', '\u{13441}'],
    ['a half blank hieroglyph (U+13442)', '\u{13442}'],
    ['a zero-width space', '\u200b'],
    ['a zero-width non-joiner', '\u200c'],
    ['a zero-width joiner', '\u200d'],
    ['a left-to-right mark', '\u200e'],
    ['a word joiner', '\u2060'],
    ['a soft hyphen', '\u00ad'],
    ['a combining grapheme joiner', '\u034f'],
    ['a variation selector', '\ufe0f'],
    ['a combining accent without its letter', '\u0301'],
    ['punctuation only', '. - !'],
    ['several of these', '\u3164 \u2800\u200b\u115f'],
  ])('rejects a name that shows no letter, number, symbol or emoji', (_case, text) => {
    expect(parseDisplayName(text)).toBeUndefined();
  });

  itForAll(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'])(
    'rejects every bidi embedding, override and isolate',
    (mark) => {
      expect(parseDisplayName(`Sara${mark}Ahmadi`)).toBeUndefined();
      expect(parseDisplayName(mark)).toBeUndefined();
    },
  );

  it('rejects every tag character, U+E0000 to U+E007F', () => {
    const tags = Array.from({ length: 0x80 }, (_, index) => String.fromCodePoint(0xe0000 + index));
    expect(tags.filter((tag) => parseDisplayName(`Sara${tag}`) !== undefined)).toEqual([]);
  });

  it.each([
    ['combining marks', '\u0301'.repeat(100_000)],
    ['letters with combining marks', `a${'\u0301\u0323'.repeat(50_000)}`],
    ['one unit more than 100 characters can have', 'a'.repeat(801)],
  ])('rejects %s without normalizing them, which takes quadratic time', (_case, text) => {
    const normalize = mock.method(String.prototype, 'normalize');
    const name = parseDisplayName(text);
    const calls = normalize.mock.callCount();
    normalize.mock.restore();
    expect([name, calls]).toEqual([undefined, 0]);
  });

  it('returns a name that it accepts unchanged, of at most 100 characters', () => {
    fc.assert(
      fc.property(anyText({ maxLength: 120 }), (text) => {
        const name = parseDisplayName(text);
        expect(parseDisplayName(name ?? '')).toBe(name);
        expect(Array.from(name ?? '').length).toBeLessThanOrEqual(100);
      }),
      { numRuns: 1000 },
    );
  });

  it('accepts the decomposed form of every name that it accepts', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 100 }), (text) => {
        const name = parseDisplayName(text);
        expect(parseDisplayName((name ?? '').normalize('NFD'))).toBe(name);
      }),
      { numRuns: 500 },
    );
  });
});
