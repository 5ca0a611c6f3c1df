const PERSIAN_ZERO = 0x06f0;
const ARABIC_INDIC_ZERO = 0x0660;

/** White space, direction marks and isolates, zero-width characters: messengers, keyboards and spreadsheets leave them at the ends. */
const PASTED = /[\p{White_Space}\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]/u;

/** Returns the text without what was pasted at either end. In linear time: a pattern for the end would begin again at each of many spaces within. */
export const trimPasted = (text: string): string => {
  let [from, to] = [0, text.length];
  while (from < to && PASTED.test(text.charAt(from))) from += 1;
  while (to > from && PASTED.test(text.charAt(to - 1))) to -= 1;
  return text.slice(from, to);
};

/** Returns the text trimmed, with Persian (U+06F0..F9) and Arabic-Indic (U+0660..69) digits, spaces and hyphens in ASCII. */
export const plainText = (text: string): string =>
  trimPasted(text)
    .replace(/[\u06f0-\u06f9\u0660-\u0669]/g, (digit) => {
      const codePoint = digit.charCodeAt(0);
      return String(codePoint - (codePoint >= PERSIAN_ZERO ? PERSIAN_ZERO : ARABIC_INDIC_ZERO));
    })
    .replace(/[\u00a0\u202f\u2009]/g, ' ')
    .replace(/[\u2010-\u2015\u2212]/g, '-');
