import { parseNationalId } from '#shared/values/national-id.ts';
import { parsePhone } from '#shared/values/phone.ts';

export const EXTERNAL_ID = /^[A-Za-z0-9._:-]{1,64}$/;

/** Also without the `+`, or with `00` in place of it. */
const isPhone = (text: string): boolean =>
  [text, `+${text}`, text.replace(/^00/, '+')].some((form) => parsePhone(form) !== undefined);

/** A national id or a mobile number is refused: the value is a part of a key and of queries, where no personal number may be. */
export const parseExternalId = (text: string): string | undefined =>
  EXTERNAL_ID.test(text) && parseNationalId(text) === undefined && !isPhone(text) ? text : undefined;
