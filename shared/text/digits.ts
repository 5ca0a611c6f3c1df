const PERSIAN_ZERO = 0x06f0;
const ARABIC_INDIC_ZERO = 0x0660;

/** Persian (U+06F0..F9) and Arabic-Indic (U+0660..69) digits as ASCII digits; every other character as it stands. */
export const toAsciiDigits = (text: string): string =>
  text.replace(/[\u06f0-\u06f9\u0660-\u0669]/g, (digit) => {
    const codePoint = digit.charCodeAt(0);
    return String(codePoint - (codePoint >= PERSIAN_ZERO ? PERSIAN_ZERO : ARABIC_INDIC_ZERO));
  });
