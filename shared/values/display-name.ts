import { trimPasted } from '#shared/values/plain-text.ts';

/** Unicode code points, after trimming and NFC. */
export const MAX_NAME_CHARACTERS = 100;

/** The UTF-16 units that can compose to 100 characters (at most 4 times 2 each). A longer text would take quadratic time to normalize. */
const MAX_TRIMMED_UNITS = MAX_NAME_CHARACTERS * 4 * 2;

/**
 * Controls, lone surrogates, noncharacters, separators, annotations, the replacement character, and what shows nothing by itself:
 * zero-width spaces, bidi marks, tags, fillers, blank Braille, the null notehead, blank and joined hieroglyphs.
 */
const FORBIDDEN =
  /[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}\p{Zl}\p{Zp}\ufff9-\ufffd\u2800\u{1d159}\u{13430}-\u{13455}\u{16fe4}[\p{Default_Ignorable_Code_Point}--[\u200c\u200d\p{Variation_Selector}]]]/v;

/** More combining marks in a row than any language writes. */
const PILED_MARKS = /\p{M}{5}/u;

/** A zero-width non-joiner without a letter of the Arabic script (it may have marks) before or after it, and two in a row. */
const STRAY_NON_JOINER =
  /(?<![\p{Script=Arabic}&&\p{L}]\p{M}{0,4})\u200c(?![\p{Script=Arabic}&&\p{L}])|\u200c{2}/v;

/** A selector of the text or emoji form that is neither after a pictograph nor within a keycap. */
const STRAY_EMOJI_SELECTOR = /(?<!\p{Extended_Pictographic})[\ufe0e\ufe0f](?!\u20e3)/u;

/** A selector of a glyph that is not after a Han character. */
const STRAY_SELECTOR = /(?<!\p{Script=Han})[\p{Variation_Selector}--[\ufe0e\ufe0f]]/v;

/** A zero-width joiner that does not join two emoji. */
const STRAY_JOINER =
  /(?<!\p{Extended_Pictographic}[\ufe0f\p{Emoji_Modifier}]?)\u200d|\u200d(?!\p{Extended_Pictographic})/v;

const BROKEN_RULES = [
  FORBIDDEN,
  PILED_MARKS,
  STRAY_NON_JOINER,
  STRAY_JOINER,
  STRAY_EMOJI_SELECTOR,
  STRAY_SELECTOR,
];

const VISIBLE = /[[\p{L}\p{N}\p{S}\p{Extended_Pictographic}\u20e3]--\p{Default_Ignorable_Code_Point}]/v;

/** Returns a name trimmed and in NFC: 1 to 100 characters, one of them visible, none invisible but the joiners of Persian words and emoji. */
export const parseDisplayName = (text: string): string | undefined => {
  const trimmed = trimPasted(text);
  if (trimmed.length > MAX_TRIMMED_UNITS) return undefined;
  const name = trimmed.normalize('NFC');
  if ([...name].length > MAX_NAME_CHARACTERS) return undefined;
  return VISIBLE.test(name) && !BROKEN_RULES.some((rule) => rule.test(name)) ? name : undefined;
};
