import { plainText } from '#shared/values/plain-text.ts';

/** A phone shows a code in groups, and people type it so. */
const SIX_DIGITS = /^[0-9](?: *[0-9]){5}$/;

export const parseCode = (text: string): string | undefined => {
  const written = plainText(text);
  return SIX_DIGITS.test(written) ? written.replaceAll(' ', '') : undefined;
};
