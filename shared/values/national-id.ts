import { plainText } from '#shared/values/plain-text.ts';

/** Ten digits, together or as on some cards: `001-234567-9`. */
const NATIONAL_ID = /^(?:[0-9]{10}|[0-9]{3}-[0-9]{6}-[0-9])$/;

/** Weights 10, 9, … 2 over the first nine digits; the tenth is the check digit. */
const checkDigit = (firstNine: string): number => {
  const sum = [...firstNine].reduce((total, digit, index) => total + Number(digit) * (10 - index), 0);
  const remainder = sum % 11;
  return remainder < 2 ? remainder : 11 - remainder;
};

/** Ten equal digits have a valid check digit but belong to no person. A missing leading zero is not added. */
export const parseNationalId = (text: string): string | undefined => {
  const written = plainText(text);
  const digits = written.replaceAll('-', '');
  if (!NATIONAL_ID.test(written) || /^(.)\1{9}$/.test(digits)) return undefined;
  return checkDigit(digits.slice(0, 9)) === Number(digits[9]) ? digits : undefined;
};

/** For test identities. */
export const completeNationalId = (firstNine: string): string => `${firstNine}${checkDigit(firstNine)}`;
