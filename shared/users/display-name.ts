/** The most characters (Unicode code points) of a display name after trimming and NFC. */
export const MAX_NAME_CHARACTERS = 100;

/**
 * The most UTF-16 units that can compose to 100 characters: one character decomposes into at most 4, each at most 2 units.
 * Normalizing takes quadratic time in runs of combining marks, so a longer text is rejected before it is normalized.
 */
const MAX_TRIMMED_UNITS = MAX_NAME_CHARACTERS * 4 * 2;

/** Controls, lone surrogates, line and paragraph separators, bidi embeddings, overrides and isolates, and tag characters. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/**
 * Letters, numbers, symbols and emoji, without those that show nothing: Hangul fillers and other ignorable characters, blank Braille,
 * the object replacement character, the null notehead and blank hieroglyphs.
 */
const VISIBLE =
  /[[\p{L}\p{N}\p{S}\p{Extended_Pictographic}]--[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{13441}\u{13442}]]/v;

/**
 * Returns a name trimmed and in NFC, or undefined if it breaks a rule: 1 to 100 characters, at least one of them visible, none of
 * them forbidden.
 */
export const parseDisplayName = (text: string): string | undefined => {
  const trimmed = text.trim();
  if (trimmed.length > MAX_TRIMMED_UNITS) return undefined;
  const name = trimmed.normalize('NFC');
  if ([...name].length > MAX_NAME_CHARACTERS) return undefined;
  return VISIBLE.test(name) && !FORBIDDEN.test(name) ? name : undefined;
};
