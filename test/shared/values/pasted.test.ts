import { parseBirthDate } from '#shared/values/birth-date.ts';
import { parseCode } from '#shared/values/code.ts';
import { parseDisplayName } from '#shared/values/display-name.ts';
import { parseNationalId } from '#shared/values/national-id.ts';
import { parsePhone } from '#shared/values/phone.ts';
import { itForAll } from '#test/for-all.ts';

const PARSERS = [
  ['a national id', parseNationalId, '9990000018', '9990000018'],
  ['a birth date', (text: string) => parseBirthDate(text)?.text, '1370/1/15', '1370/1/15'],
  ['a phone', parsePhone, '+98 912 123 4567', '+989121234567'],
  ['a code', parseCode, '012 345', '012345'],
  ['a name', parseDisplayName, 'سارا', 'سارا'],
] as const;

describe('what is pasted', () => {
  itForAll(PARSERS)('is ignored at either end', (_case, parse, text, value) => {
    const pasted = [
      ` ${text}\n`,
      `\u202b${text}\u202c`,
      `\u2066${text}\u2069`,
      `\ufeff\u200f${text}\u200b \u200e`,
    ];
    expect(pasted.map((each) => parse(each))).toEqual(pasted.map(() => value));
  });

  itForAll(PARSERS)('is refused within', (_case, parse, text) => {
    const [middle, marks] = [text.length / 2, ['\u200e', '\u200b', '\u202a', '\u2069', '\ufeff', '\n']];
    const spoiled = marks.map((mark) => text.slice(0, middle) + mark + text.slice(middle));
    expect(spoiled.map((each) => parse(each))).toEqual(spoiled.map(() => undefined));
  });

  itForAll([
    ['a phone with no-break spaces', parsePhone, '0912\u00a0123\u202f4567', '+989121234567'],
    ['a phone with hyphens of a word processor', parsePhone, '0912\u2011123\u20134567', '+989121234567'],
    [
      'a phone in parentheses',
      parsePhone,
      '\u202a+98\u2009(0)\u00a0912\u2212123\u20104567\u202c',
      '+989121234567',
    ],
    ['a national id', parseNationalId, '999\u2011000001\u20118', '9990000018'],
    ['a birth date', (text: string) => parseBirthDate(text)?.text, '1370\u201301\u201315', '1370/1/15'],
    ['a code', parseCode, '۰۱۲\u00a0۳۴۵', '012345'],
  ] as const)(
    'has spaces and hyphens of other kinds where a space or a hyphen is allowed',
    (_case, parse, text, value) => {
      expect(parse(text)).toBe(value);
    },
  );

  itForAll([
    ['a space in a national id', parseNationalId, '999\u00a0000001\u00a08'],
    ['a space in a birth date', (text: string) => parseBirthDate(text)?.text, '1370\u00a0/1/15'],
    ['a hyphen in a code', parseCode, '012\u2011345'],
    ['a space of another width', parsePhone, '0912\u20031234567'],
    ['a hyphen at the end', parsePhone, '09121234567\u2013'],
    ['a tel URI', parsePhone, '\u202atel:+989121234567\u202c'],
    ['full-width digits', parsePhone, '０９１２１２３４５６７'],
  ] as const)('is refused with them where none is allowed', (_case, parse, text) => {
    expect(parse(text)).toBeUndefined();
  });
});
