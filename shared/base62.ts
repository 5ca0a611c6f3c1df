import { randomBytes } from 'node:crypto';

const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The largest multiple of 62 in a byte. Larger bytes are discarded, so that every character is equally likely. */
const UNBIASED_LIMIT = 248;

/** From the system's CSPRNG. */
export const randomBase62 = (length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < UNBIASED_LIMIT && text.length < length) text += ALPHABET[byte % 62];
    }
  }
  return text;
};

/** Most significant digit first, left-padded with `0` to `width`. */
export const toBase62 = (value: number | bigint, width: number): string => {
  let rest = BigInt(value);
  let text = '';
  while (rest > 0n) {
    text = ALPHABET[Number(rest % 62n)] + text;
    rest /= 62n;
  }
  return text.padStart(width, '0');
};

/** Undefined if the text holds another character. Exact up to 2^53 (8 characters). */
export const fromBase62 = (text: string): number | undefined => {
  let value = 0;
  for (const character of text) {
    const digit = ALPHABET.indexOf(character);
    if (digit === -1) return undefined;
    value = value * ALPHABET.length + digit;
  }
  return value;
};
