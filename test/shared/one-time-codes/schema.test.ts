import fc from 'fast-check';
import * as v from 'valibot';
import { sendCodeSchema, verifyCodeSchema } from '#shared/one-time-codes/schema.ts';
import { digits, inAnyScript } from '#test/shared/any-script.ts';

const phone = '+989990000001';

const isCode = (code: unknown): boolean => v.is(verifyCodeSchema, { phone, code });

describe('verifyCodeSchema', () => {
  it('accepts six digits in every script and keeps leading zeros', () => {
    fc.assert(
      fc.property(
        digits(6).chain((code) => fc.tuple(fc.constant(code), inAnyScript(code))),
        ([code, written]) =>
          expect(v.parse(verifyCodeSchema, { phone, code: written })).toEqual({ phone, code }),
      ),
    );
  });

  it.each([' 012345', '012 345 ', '0 1 2 3 4 5', '۰۱۲  ۳۴۵'])('ignores the spaces of %j', (code) => {
    expect(v.parse(verifyCodeSchema, { phone, code })).toEqual({ phone, code: '012345' });
  });

  it.each([
    '',
    '12345',
    '1234567',
    '12345 ',
    '123-456',
    '123\t456',
    '12345a',
    '+12345',
    '1234.5',
    '１２３４５６',
  ])('refuses the code %j', (code) => {
    expect(isCode(code)).toBe(false);
  });

  it('returns the issues of phone and code together', () => {
    const { issues } = v.safeParse(verifyCodeSchema, { phone: '1', code: '1' });
    expect(issues?.map((issue) => issue.path?.[0]?.key)).toEqual(['phone', 'code']);
  });
});

describe('sendCodeSchema', () => {
  it('accepts a phone and a language, Persian by default, and no other field', () => {
    expect(v.parse(sendCodeSchema, { phone: '0999-000 0001' })).toEqual({ phone, locale: 'fa' });
    expect(v.parse(sendCodeSchema, { phone, locale: 'en' })).toEqual({ phone, locale: 'en' });
    expect(v.is(sendCodeSchema, { phone, code: '123456' })).toBe(false);
  });

  it.each(['EN', 'de', ''])('rejects the language %j, and names the accepted ones', (locale) => {
    const { issues } = v.safeParse(sendCodeSchema, { phone, locale });
    expect(issues?.map(({ message }) => message)).toEqual(['Must be fa or en.']);
  });
});
