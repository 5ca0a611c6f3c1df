import { plainText, trimPasted } from '#shared/values/plain-text.ts';
import { itForAll } from '#test/for-all.ts';

const between = (from: number, to: number): readonly string[] =>
  Array.from({ length: to - from + 1 }, (_, index) => String.fromCharCode(from + index));

/** By name, independently of the code under test. */
const PASTED: readonly (readonly [string, readonly string[]])[] = [
  ['ASCII white space', [...'\t\n\v\f\r ']],
  ['a next line, a no-break space and an Ogham space', ['\u0085', '\u00a0', '\u1680']],
  ['spaces of every width', between(0x2000, 0x200a)],
  ['line and paragraph separators', ['\u2028', '\u2029']],
  ['narrow, mathematical and ideographic spaces', ['\u202f', '\u205f', '\u3000']],
  ['an Arabic letter mark and direction marks', ['\u061c', '\u200e', '\u200f']],
  ['embeddings and overrides', between(0x202a, 0x202e)],
  ['isolates', between(0x2066, 0x2069)],
  [
    'zero-width spaces, joiners and a vowel separator',
    ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u180e'],
  ],
];

describe('trimPasted', () => {
  itForAll(PASTED)(
    'ignores what is pasted with a value at either end, any number of each',
    (_case, marks) => {
      const all = marks.join('');
      expect(marks.map((mark) => trimPasted(`${mark}x${mark}`))).toEqual(marks.map(() => 'x'));
      expect(trimPasted(`${all}x y${all}`)).toBe('x y');
      expect(trimPasted(all)).toBe('');
    },
  );

  itForAll(['\u0000', '\u00ad', '\u034f', '\u115f', '\u2800', '\u3164', '\ufe0f', '\ufffd', '.', '-'])(
    'keeps every other character',
    (mark) => {
      expect(trimPasted(`${mark}x${mark}`)).toBe(`${mark}x${mark}`);
    },
  );

  it('trims in linear time; quadratic time would exceed the test timeout', () => {
    const spaces = ' '.repeat(300_000);
    expect(trimPasted(`${spaces}x${spaces}y${spaces}`)).toBe(`x${spaces}y`);
  });
});

describe('plainText', () => {
  it('converts Persian and Arabic-Indic digits and keeps every other character', () => {
    expect(plainText('۰۹۱۲ ٣٤٥ 67 سارا １')).toBe('0912 345 67 سارا １');
  });

  it('writes a no-break, a narrow and a thin space as a space, and no other', () => {
    expect(plainText('1\u00a02\u202f3\u20094')).toBe('1 2 3 4');
    expect(plainText('1\u20032\u30003\t4')).toBe('1\u20032\u30003\t4');
  });

  it('writes the hyphens, dashes and the minus sign of Unicode as a hyphen, and no other line', () => {
    const hyphens = [...between(0x2010, 0x2015), '\u2212'];
    expect(plainText(`0${hyphens.join('')}1`)).toBe(`0${'-'.repeat(hyphens.length)}1`);
    expect(plainText('1\u00ad2\u20163\uff0d4ـ5')).toBe('1\u00ad2\u20163\uff0d4ـ5');
  });
});
