/** What a terminal acts on, or what reorders the text around it. The joiners inside names are none of them. */
const ACTED_ON =
  /[\p{Cc}\u{061c}\u{200e}\u{200f}\u{2028}-\u{202e}\u{2066}-\u{2069}\u{feff}\u{e0000}-\u{e007f}]/gu;

const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Shows control, bidi and tag characters as JSON escapes them. */
export const escaped = (text: string): string =>
  text.replace(ACTED_ON, (found) => found.split('').map(escapeOf).join(''));

/** Escapes all but the ends of lines. JSON stays the same JSON. */
export const escapedLines = (text: string): string => text.split('\n').map(escaped).join('\n');
