import { toAsciiDigits } from '#shared/values/digits.ts';

/** `+98` or `0`, then 9 and nine digits, with spaces and hyphens between digits. */
export const IRANIAN_MOBILE = /^(?:\+98|0)[ -]*(9(?:[ -]*[0-9]){9})$/;

/** In E.164 (`+989121234567`). Operator prefixes are not checked: new ones open every year. */
export const parsePhone = (text: string): string | undefined => {
  const national = IRANIAN_MOBILE.exec(toAsciiDigits(text))?.[1];
  return national === undefined ? undefined : `+98${national.replace(/[ -]/g, '')}`;
};

/** `09121234567`: the form that every provider accepts. */
export const toLocalPhone = (phone: string): string => `0${phone.slice(3)}`;
