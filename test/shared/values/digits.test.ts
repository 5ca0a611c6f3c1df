import fc from 'fast-check';
import { YEAR_MONTH_DAY } from '#shared/values/birth-date.ts';
import { inAnyScript, toAsciiDigits } from '#shared/values/digits.ts';
import { NATIONAL_ID } from '#shared/values/national-id.ts';
import { IRANIAN_MOBILE } from '#shared/values/phone.ts';
import { inAnyScript as written } from '#test/shared/any-script.ts';

describe('toAsciiDigits', () => {
  it('converts Persian and Arabic-Indic digits and keeps every other character', () => {
    expect(toAsciiDigits('۰۹۱۲ ٣٤٥ 67 سارا')).toBe('0912 345 67 سارا');
  });
});

describe.each([
  ['national ids', NATIONAL_ID],
  ['birth dates', YEAR_MONTH_DAY],
  ['phones', IRANIAN_MOBILE],
] as const)('the published pattern of %s', (_title, pattern) => {
  const widened = new RegExp(inAnyScript(pattern), 'u');

  it('accepts everything that the service accepts, in every script', () => {
    fc.assert(
      fc.property(fc.stringMatching(pattern).chain(written), (sent) => {
        expect(widened.test(sent)).toBe(true);
      }),
    );
  });

  it('rejects text of another form', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'+0989 -/()۹٩۱x') }), (sent) => {
        expect(widened.test(sent)).toBe(pattern.test(toAsciiDigits(sent)));
      }),
    );
  });
});
