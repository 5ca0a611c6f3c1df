/** The most characters (Unicode code points) of a display name after trimming and NFC. */
export const MAX_NAME_CHARACTERS = 100;

/**
 * The most UTF-16 units that can compose to 100 characters: one character decomposes into at most 4, each at most 2 units.
 * Normalizing takes quadratic time in runs of combining marks, so a longer text is rejected before it is normalized.
 */
const MAX_TRIMMED_UNITS = MAX_NAME_CHARACTERS * 4 * 2;

/**
 * Controls, lone surrogates, noncharacters, line and paragraph separators, interlinear annotations, and every character that shows
 * nothing by itself: zero-width spaces, bidi marks, overrides and isolates, fillers, tags. Variation selectors are combining marks.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffc[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\p{Variation_Selector}]]]/v;

/** More combining marks in a row than any language writes. */
const PILED_MARKS = /\p{M}{5}/u;

/** A zero-width non-joiner that is not between two letters of the Arabic script, the first of which may have marks. */
const STRAY_NON_JOINER =
  /(?<![\p{Script=Arabic}&&\p{L}]\p{M}{0,4})\u200c|\u200c(?![\p{Script=Arabic}&&\p{L}])/v;

/** A zero-width joiner that does not join two emoji. */
const STRAY_JOINER =
  /(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/v;

const BROKEN_RULES = [FORBIDDEN, PILED_MARKS, STRAY_NON_JOINER, STRAY_JOINER];

/**
 * Letters, numbers, symbols and emoji, without those that show nothing: Hangul fillers and other ignorable characters, blank Braille,
 * the object replacement character, the null notehead and blank hieroglyphs.
 */
const VISIBLE =
  /[[\p{L}\p{N}\p{S}\p{Extended_Pictographic}]--[\p{Default_Ignorable_Code_Point}\u2800\ufffc\u{1d159}\u{13441}\u{13442}]]/v;

/**
 * Returns a name trimmed and in NFC, or undefined if it breaks a rule: 1 to 100 characters, at least one of them visible, none of
 * them invisible but the joiners that Persian words and emoji need, at most four combining marks in a row.
 */
export const parseDisplayName = (text: string): string | undefined => {
  const trimmed = text.trim();
  if (trimmed.length > MAX_TRIMMED_UNITS) return undefined;
  const name = trimmed.normalize('NFC');
  if ([...name].length > MAX_NAME_CHARACTERS) return undefined;
  return VISIBLE.test(name) && !BROKEN_RULES.some((rule) => rule.test(name)) ? name : undefined;
};
