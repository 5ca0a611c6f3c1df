const MAX_CHARACTERS = 100;

/** Control characters, lone surrogates, and the marks that turn the direction of the text around them. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u2069]/u;

/** A name trimmed and in NFC, or undefined: 1–100 characters, none of them a control or bidi-override character. */
export const parseDisplayName = (text: string): string | undefined => {
  const name = text.trim().normalize('NFC');
  const length = [...name].length;
  return length >= 1 && length <= MAX_CHARACTERS && !FORBIDDEN.test(name) ? name : undefined;
};
