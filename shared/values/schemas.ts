import * as v from 'valibot';
import { systemClock } from '#shared/clock.ts';
import { parsed } from '#shared/fields.ts';
import { isFutureDay, parseBirthDate, todayInTehran } from './birth-date.ts';
import { parseNationalId } from './national-id.ts';
import { parsePhone } from './phone.ts';

export const text = () => v.string('Must be a string.');

/** Of a text as it is sent, with what was pasted with it. */
const MAX_SENT_CHARACTERS = 64;

/**
 * A text that has no pattern in the document: none that every dialect of regular expressions reads says which digits and spaces its parser
 * accepts.
 */
export const sentText = () =>
  v.pipe(text(), v.maxLength(MAX_SENT_CHARACTERS, `Must be at most ${MAX_SENT_CHARACTERS} characters.`));

export const nationalIdSchema = v.pipe(
  sentText(),
  v.description(
    'The national id: 10 digits with a valid check digit, also as `001-234567-9`. Leading zeros are significant.',
  ),
  v.examples(['9999150829']),
  parsed(
    parseNationalId,
    'Must be a national id: 10 digits with its leading zeros and a valid check digit, also as 001-234567-9.',
  ),
);

export const birthDateSchema = v.pipe(
  sentText(),
  v.description(
    'Birth date as `YYYY/M/D` or `YYYY-M-D`. Years 1200–1599 are Solar Hijri (Jalali), 1800–2199 Gregorian. Not in the future in Asia/Tehran.',
  ),
  v.examples(['1370/1/15']),
  parsed(
    parseBirthDate,
    'Must be a real day, written YYYY/M/D or YYYY-M-D, in the Solar Hijri or Gregorian calendar.',
  ),
  v.check((date) => !isFutureDay(date, todayInTehran(systemClock())), 'Must not be in the future.'),
);

/** The phone of every example: a test phone of the sandbox. `npm start` registers its buyer. */
export const PHONE_EXAMPLE = '+989990123456';

export const describedPhone = (description: string) =>
  v.pipe(
    sentText(),
    v.description(description),
    v.examples([PHONE_EXAMPLE]),
    parsed(
      parsePhone,
      'Must be an Iranian mobile number: +98, 0098, 98, 0 or nothing, then 9 and nine digits, as in 09121234567.',
    ),
  );

export const phoneSchema = describedPhone(
  'An Iranian mobile number: `+98`, `0098`, `98`, `0` or nothing, then `9` and nine digits. Spaces and hyphens between digits are allowed, and ' +
    'parentheses around the `0`, the three digits after it, or both.',
);
