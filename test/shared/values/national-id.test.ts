import fc from 'fast-check';
import { completeNationalId, parseNationalId } from '#shared/values/national-id.ts';
import { itForAll } from '#test/for-all.ts';
import { digits, inAnyScript } from '#test/shared/any-script.ts';

/** The published rule, written independently of the code under test. */
const followsTheFormula = (id: string): boolean => {
  const sum = [10, 9, 8, 7, 6, 5, 4, 3, 2].reduce((total, weight, at) => total + weight * Number(id[at]), 0);
  const control = Number(id[9]);
  return sum % 11 < 2 ? control === sum % 11 : control === 11 - (sum % 11);
};

const hasTenEqualDigits = (id: string): boolean => new Set(id).size === 1;

const validId = digits(9)
  .map(completeNationalId)
  .filter((id) => !hasTenEqualDigits(id));

describe('parseNationalId', () => {
  itForAll([
    ['remainder 0', '9990000050'],
    ['remainder 1', '9990000001'],
    ['remainder 3', '9990000018'],
    ['remainder 10, whose check digit is also 1', '9990000301'],
    ['leading zeros', '0001234560'],
  ])('accepts ids computed by hand', (_case, id) => {
    expect(parseNationalId(id)).toBe(id);
  });

  it('accepts ten digits if and only if they follow the formula and are not all equal', () => {
    fc.assert(
      fc.property(fc.oneof(digits(10), validId), (id) => {
        const isValid = followsTheFormula(id) && !hasTenEqualDigits(id);
        expect(parseNationalId(id)).toBe(isValid ? id : undefined);
      }),
      { numRuns: 2000 },
    );
  });

  it('accepts its two hyphens and returns the ten digits', () => {
    fc.assert(
      fc.property(
        validId.chain((id) =>
          fc.tuple(fc.constant(id), inAnyScript(`${id.slice(0, 3)}-${id.slice(3, 9)}-${id.slice(9)}`)),
        ),
        ([id, written]) => expect(parseNationalId(written)).toBe(id),
      ),
    );
  });

  it('accepts every script and returns ASCII digits with the leading zeros', () => {
    fc.assert(
      fc.property(
        validId.chain((id) => fc.tuple(fc.constant(id), inAnyScript(id))),
        ([id, written]) => expect(parseNationalId(written)).toBe(id),
      ),
    );
  });

  itForAll(Array.from({ length: 10 }, (_, digit) => String(digit).repeat(10)))(
    'rejects ten equal digits',
    (id) => {
      expect(followsTheFormula(id)).toBe(true);
      expect(parseNationalId(id)).toBeUndefined();
    },
  );

  itForAll([
    ['an empty string', ''],
    ['nine digits', '999000001'],
    ['eleven digits', '99900000018'],
    ['a missing leading zero', '001234560'],
    ['spaces within', '999 000 0018'],
    ['one of its two hyphens', '999-0000018'],
    ['the other hyphen', '999000001-8'],
    ['hyphens elsewhere', '99-9000001-8'],
    ['three hyphens', '999-000-001-8'],
    ['a sign', '+999000018'],
    ['a decimal', '999000001.8'],
    ['full-width digits', '９９９００００１８'],
    ['an embedded zero', '9990000018\u0000'],
    ['letters', '99900000l8'],
    ['two lines, each a valid id', '9990000018\n9990000018'],
  ])('rejects every other form', (_case, text) => {
    expect(parseNationalId(text)).toBeUndefined();
  });
});

describe('completeNationalId', () => {
  it('completes any nine digits that are not all equal to a valid id', () => {
    fc.assert(
      fc.property(
        digits(9).filter((nine) => new Set(nine).size > 1),
        (nine) => expect(parseNationalId(completeNationalId(nine))).toBe(completeNationalId(nine)),
      ),
    );
  });
});
