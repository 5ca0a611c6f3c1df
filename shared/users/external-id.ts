import { parseNationalId } from '#shared/values/national-id.ts';
import { parsePhone } from '#shared/values/phone.ts';

/** In the document: every dialect of regular expressions reads it. */
export const EXTERNAL_ID_PATTERN = '^[A-Za-z0-9._:\\-]{1,64}$';

const EXTERNAL_ID = new RegExp(EXTERNAL_ID_PATTERN);

const SEPARATOR = '[._:-]';
const GAP = `${SEPARATOR}*`;

const SEPARATORS = new RegExp(SEPARATOR, 'g');

/** The 0 in parentheses that many write after the country code: `+98 (0)912`. */
const ZERO_AFTER_CODE = /^((?:00)?98)0/;

const MOBILE = `(?:0|(?:0${GAP}0${GAP})?9${GAP}8(?:${GAP}0)?)${GAP}9(?:${GAP}[0-9]){9}`;

/** A mobile number with its 0, 98 or 0098 between ends or separators, which may be within it too: `tel:0912-123-4567`. */
const HELD_MOBILE = new RegExp(`(?:^|${SEPARATOR})${MOBILE}(?:$|${SEPARATOR})`);

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const isPersonal = (text: string): boolean => {
  const digits = text.replace(SEPARATORS, '');
  return (
    parseNationalId(digits) !== undefined ||
    parsePhone(digits.replace(ZERO_AFTER_CODE, '$1')) !== undefined ||
    (!UUID.test(text) && HELD_MOBILE.test(text))
  );
};

/**
 * A national id or a mobile number is refused: the value is a part of a key and of queries, where no personal number may be. A national id
 * behind a prefix is accepted, since one in ten references of ten digits would look like one.
 */
export const parseExternalId = (text: string): string | undefined =>
  EXTERNAL_ID.test(text) && !isPersonal(text) ? text : undefined;
