const PERSIAN_ZERO = 0x06f0;
const ARABIC_INDIC_ZERO = 0x0660;

/** Converts Persian (U+06F0..F9) and Arabic-Indic (U+0660..69) digits to ASCII digits and keeps every other character. */
export const toAsciiDigits = (text: string): string =>
  text.replace(/[\u06f0-\u06f9\u0660-\u0669]/g, (digit) => {
    const codePoint = digit.charCodeAt(0);
    return String(codePoint - (codePoint >= PERSIAN_ZERO ? PERSIAN_ZERO : ARABIC_INDIC_ZERO));
  });

const escaped = (codePoint: number): string => `\\u0${codePoint.toString(16)}`;

/** 7, ۷ or ٧. */
const inThreeScripts = (digit: number): string =>
  `[${digit}${escaped(PERSIAN_ZERO + digit)}${escaped(ARABIC_INDIC_ZERO + digit)}]`;

const ANY_DIGIT = '[0-9\\u06f0-\\u06f9\\u0660-\\u0669]';

/** Widens a pattern over ASCII digits for the published interface: callers may send any script. Digits within braces are counts and stay. */
export const inAnyScript = (pattern: RegExp): string =>
  pattern.source.replace(/\{[0-9,]+\}|\[0-9\]|[0-9]/g, (part) => {
    if (part.startsWith('{')) return part;
    return part === '[0-9]' ? ANY_DIGIT : inThreeScripts(Number(part));
  });
