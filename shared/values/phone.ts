import { plainText } from '#shared/values/plain-text.ts';

const GAP = '[ -]*';
/** 9 and the two digits of the operator. */
const OPERATOR = `9${GAP}[0-9]${GAP}[0-9]`;
const OPERATOR_IN_PARENTHESES = `(?:${OPERATOR}|\\(${OPERATOR}\\))`;
const COUNTRY = `(?:(?:\\+|0${GAP}0${GAP})?9${GAP}8${GAP})?`;

const BEGINNINGS = [
  `0${GAP}${OPERATOR_IN_PARENTHESES}`,
  `${COUNTRY}(?:\\(0\\)${GAP})?${OPERATOR_IN_PARENTHESES}`,
  `${COUNTRY}\\(0${GAP}${OPERATOR}\\)`,
];

/**
 * `+98`, `0098`, `98`, `0` or nothing, then 9 and nine digits. Spaces and hyphens between digits; parentheses around the 0, the three digits
 * after it, or both.
 */
const IRANIAN_MOBILE = new RegExp(`^(?:${BEGINNINGS.join('|')})(?:${GAP}[0-9]){7}$`);

/** In E.164 (`+989121234567`). Operator prefixes are not checked: new ones open every year. */
export const parsePhone = (text: string): string | undefined => {
  const written = plainText(text);
  return IRANIAN_MOBILE.test(written) ? `+98${written.replace(/[^0-9]/g, '').slice(-10)}` : undefined;
};

/** `09121234567`: the form that every provider accepts. */
export const toLocalPhone = (phone: string): string => `0${phone.slice(3)}`;
