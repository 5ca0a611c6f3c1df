import fc from 'fast-check';

const ZEROS = [0x30, 0x6f0, 0x660] as const;

/** The text with each of its digits in ASCII, Persian or Arabic-Indic, at random. */
export const inAnyScript = (text: string): fc.Arbitrary<string> =>
  fc
    .array(fc.constantFrom(...ZEROS), { minLength: text.length, maxLength: text.length })
    .map((zeros) =>
      text.replace(/[0-9]/g, (digit, offset) => String.fromCharCode(Number(zeros[offset]) + Number(digit))),
    );

/** Kinds of code points that rules of texts tell apart, from and to. Together they are all code points but surrogates. */
const CODE_POINTS = [
  [0x00, 0x1f],
  [0x20, 0x7f],
  [0x80, 0x2ff],
  // Combining marks.
  [0x300, 0x36f],
  [0x370, 0x5ff],
  // Arabic, with its digits and marks.
  [0x600, 0x6ff],
  [0x700, 0x1fff],
  // Spaces, joiners, marks of direction.
  [0x2000, 0x206f],
  [0x2070, 0xd7ff],
  [0xe000, 0xfdff],
  // Variation selectors.
  [0xfe00, 0xfe0f],
  [0xfe10, 0xffff],
  [0x10000, 0x1efff],
  // Emoji.
  [0x1f000, 0x1faff],
  [0x1fb00, 0xdffff],
  // Tags and selectors.
  [0xe0000, 0xe01ef],
  [0xe01f0, 0x10ffff],
] as const;

/** Any text, each kind of code points equally often. The unit `binary` of fast-check makes a table of all code points, for half a second. */
export const anyText = ({ maxLength = 12 } = {}): fc.Arbitrary<string> =>
  fc
    .array(fc.oneof(...CODE_POINTS.map(([min, max]) => fc.integer({ min, max }))), { maxLength })
    .map((points) => String.fromCodePoint(...points));

/** `length` ASCII digits. */
export const digits = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.integer({ min: 0, max: 9 }), { minLength: length, maxLength: length })
    .map((values) => values.join(''));
