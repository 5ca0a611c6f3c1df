import fc from 'fast-check';

const ZEROS = [0x30, 0x6f0, 0x660] as const;

/** The text with each of its digits in ASCII, Persian or Arabic-Indic, at random. */
export const inAnyScript = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...ZEROS), { minLength: text.length, maxLength: text.length })
    .map((zeros) =>
      text.replace(/[0-9]/g, (digit, offset) => String.fromCharCode(Number(zeros[offset]) + Number(digit))),
    );

/** `length` ASCII digits. */
export const digits = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((values) => values.join(''));
