import { toAsciiDigits } from '#shared/digits.ts';

/** `+98` or `0`, then a 9 and nine digits; spaces and hyphens may stand between digits. */
export const IRANIAN_MOBILE = /^(?:\+98|0)[ -]*(9(?:[ -]*[0-9]){9})$/;

/** An Iranian mobile number in E.164 (`+989121234567`), or undefined. Prefixes are not judged: new ranges open every year. */
export const parsePhone = (text: string): string | undefined => {
  const national = IRANIAN_MOBILE.exec(toAsciiDigits(text))?.[1];
  return national === undefined ? undefined : `+98${national.replace(/[ -]/g, '')}`;
};

/** `09121234567`, the form that every provider takes, from E.164. */
export const toLocalPhone = (phone: string): string => `0${phone.slice(3)}`;
