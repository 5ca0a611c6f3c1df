import { parseNationalId } from '#shared/values/national-id.ts';
import { parsePhone } from '#shared/values/phone.ts';

export const EXTERNAL_ID = /^[A-Za-z0-9._:-]{1,64}$/;

const SEPARATORS = /[._:-]/g;

/** The 0 in parentheses that many write after the country code: `+98 (0)912`. */
const ZERO_AFTER_CODE = /^((?:00)?98)0/;

/** A national id or a mobile number is refused: the value is a part of a key and of queries, where no personal number may be. */
export const parseExternalId = (text: string): string | undefined => {
  const digits = text.replace(SEPARATORS, '');
  const isPersonal =
    parseNationalId(digits) !== undefined || parsePhone(digits.replace(ZERO_AFTER_CODE, '$1')) !== undefined;
  return EXTERNAL_ID.test(text) && !isPersonal ? text : undefined;
};
