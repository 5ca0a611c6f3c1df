import { toAsciiDigits } from '#shared/digits.ts';

/** What has the shape of a national id, in ASCII digits. */
export const TEN_DIGITS = /^[0-9]{10}$/;

/** Weights 10, 9, … 2 over the first nine digits; the tenth is the check digit. */
const checkDigit = (firstNine: string): number => {
  const sum = [...firstNine].reduce((total, digit, index) => total + Number(digit) * (10 - index), 0);
  const remainder = sum % 11;
  return remainder < 2 ? remainder : 11 - remainder;
};

/**
 * The ten ASCII digits of an Iranian national id, or undefined. Ten equal digits pass the check digit but are no one's id, so
 * they are refused by name. Nothing is padded: a missing leading zero is a mistake, not a spelling.
 */
export const parseNationalId = (text: string): string | undefined => {
  const digits = toAsciiDigits(text);
  if (!TEN_DIGITS.test(digits) || /^(.)\1{9}$/.test(digits)) return undefined;
  return checkDigit(digits.slice(0, 9)) === Number(digits[9]) ? digits : undefined;
};

/** A valid national id from nine digits: how test people are made. */
export const completeNationalId = (firstNine: string): string => `${firstNine}${checkDigit(firstNine)}`;

/** `******0829`: the only form in which an answer shows a national id. */
export const maskNationalId = (lastFour: string): string => `******${lastFour}`;
