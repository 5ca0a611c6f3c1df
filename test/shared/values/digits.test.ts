import fc from 'fast-check';
import { YEAR_MONTH_DAY } from '#shared/values/birth-date.ts';
import { inAnyScript, toAsciiDigits } from '#shared/values/digits.ts';
import { TEN_DIGITS } from '#shared/values/national-id.ts';
import { IRANIAN_MOBILE } from '#shared/values/phone.ts';

describe('toAsciiDigits', () => {
  it('converts Persian and Arabic-Indic digits and keeps every other character', () => {
    expect(toAsciiDigits('۰۹۱۲ ٣٤٥ 67 سارا')).toBe('0912 345 67 سارا');
  });
});

/** Each digit in any of the three scripts. */
const inMixedScripts = (text: string) =>
  fc
    .array(fc.constantFrom(0x30, 0x6f0, 0x660), { minLength: text.length, maxLength: text.length })
    .map((zeros) =>
      text.replace(/[0-9]/g, (digit, at: number) =>
        String.fromCharCode((zeros[at] as number) + Number(digit)),
      ),
    );

describe.each([
  ['national ids', TEN_DIGITS],
  ['birth dates', YEAR_MONTH_DAY],
  ['phones', IRANIAN_MOBILE],
] as const)('the published pattern of %s', (_title, pattern) => {
  const widened = new RegExp(inAnyScript(pattern), 'u');

  it('accepts everything that the service accepts, in every script', () => {
    fc.assert(
      fc.property(fc.stringMatching(pattern).chain(inMixedScripts), (sent) => {
        expect(widened.test(sent)).toBe(true);
      }),
    );
  });

  it('rejects text of another form', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'+0989 -/۹٩۱x') }), (sent) => {
        expect(widened.test(sent)).toBe(pattern.test(toAsciiDigits(sent)));
      }),
    );
  });
});
