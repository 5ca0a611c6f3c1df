import fc from 'fast-check';
import { parsePhone, toLocalPhone } from '#shared/values/phone.ts';
import { itForAll } from '#test/for-all.ts';
import { digits, inAnyScript } from '#test/shared/any-script.ts';

const separators = fc.array(fc.constantFrom(' ', '-'), { maxLength: 3 }).map((marks) => marks.join(''));

/** A number and one of its accepted forms: with each prefix, digits of any script, spaces and hyphens between any two of them. */
const spelling = fc
  .tuple(
    fc.constantFrom('+98', '0098', '98', '0', ''),
    digits(9),
    fc.array(separators, { minLength: 14, maxLength: 14 }),
  )
  .chain(([prefix, nine, gaps]) => {
    const written = `${prefix}9${nine}`.replace(/(?<=[0-9])(?=[0-9])/g, (_, at) => gaps[at] ?? '');
    return fc.tuple(fc.constant(`+989${nine}`), inAnyScript(written));
  });

describe('parsePhone', () => {
  it('returns the same E.164 number for every accepted form', () => {
    fc.assert(fc.property(spelling, ([phone, written]) => expect(parsePhone(written)).toBe(phone)));
  });

  itForAll(['00 98 912 123 4567', '00-98-912-123-4567', '+9 8 9121234567', '0 0 9 8 9121234567'])(
    'accepts spaces and hyphens between the digits of the country code',
    (text) => {
      expect(parsePhone(text)).toBe('+989121234567');
    },
  );

  itForAll([
    '(0912) 123 4567',
    '(0 9-12)1234567',
    '0(912)123-4567',
    '(0)9121234567',
    '(0)(912) 123 4567',
    '(912) 123 4567',
    '+98 (912) 123 4567',
    '+98 (0) 912 123 4567',
    '0098 (0912) 123 4567',
    '98-(912)-1234567',
    '(۰۹۱۲) ۱۲۳ ۴۵۶۷',
  ])('accepts parentheses around the 0, the three digits after it, or both', (text) => {
    expect(parsePhone(text)).toBe('+989121234567');
  });

  it('reads ten digits that begin with 98 as a number without a prefix', () => {
    expect(parsePhone('9891234567')).toBe('+989891234567');
  });

  itForAll([
    ['an empty string', ''],
    ['a landline', '02112345678'],
    ['a landline abroad', '+982112345678'],
    ['+98 and 0', '+9809121234567'],
    ['00 without 98', '009121234567'],
    ['0 and parentheses around another 0', '0(0)9121234567'],
    ['a parenthesis that is not closed', '(0912 1234567'],
    ['a parenthesis that is not opened', '0912) 1234567'],
    ['parentheses around other digits', '09(12) 1234567'],
    ['parentheses around all digits', '(09121234567)'],
    ['empty parentheses', '()9121234567'],
    ['two parentheses', '((0912)) 1234567'],
    ['one digit too few', '0912123456'],
    ['one digit too many', '091212345678'],
    ['another country', '+999121234567'],
    ['two plus signs', '++989121234567'],
    ['a trailing hyphen', '09121234567-'],
    ['a leading hyphen', '-09121234567'],
    ['a space behind the plus', '+ 989121234567'],
    ['a tab', '0912\t1234567'],
    ['dots', '0912.123.4567'],
    ['a slash', '0912/1234567'],
    ['letters', '0912abc4567'],
    ['a letter O', 'O9121234567'],
    ['a zero-width non-joiner', '0912\u200c1234567'],
    ['an embedded zero', '09121234567\u0000'],
    ['full-width digits', '０９１２１２３４５６７'],
    ['an extension', '09121234567 ext 1'],
    ['two numbers', '09121234567,09121234567'],
    ['a tel URI', 'tel:+989121234567'],
  ])('rejects every other form', (_case, text) => {
    expect(parsePhone(text)).toBeUndefined();
  });

  const LONG = 100_000;

  it.each([
    ['spaces', `0${' '.repeat(LONG)}`],
    ['hyphens behind a digit', `+989${'-'.repeat(LONG)}`],
    ['alternating spaces and hyphens in almost a number', `0912123456${' -'.repeat(LONG)}x`],
    ['runs between all digits', `${[...'0912123456'].join(' '.repeat(LONG / 10))} `],
    ['digits', `0${'9'.repeat(LONG)}`],
    ['spaces behind a prefix and parentheses', `+98${' '.repeat(LONG)}(0)${' '.repeat(LONG)}x`],
  ])('rejects 100 KB of %s in linear time; quadratic time would exceed the test timeout', (_case, text) => {
    expect(parsePhone(text)).toBeUndefined();
  });

  it('accepts 10,000 spaces between the digits', () => {
    expect(parsePhone([...'09121234567'].join(' '.repeat(10_000)))).toBe('+989121234567');
  });
});

describe('toLocalPhone', () => {
  it('returns the form that every provider accepts', () => {
    expect(toLocalPhone('+989121234567')).toBe('09121234567');
  });
});
