import * as v from 'valibot';
import { systemClock } from '#shared/clock.ts';
import { parsed } from '#shared/fields.ts';
import { isFutureDay, parseBirthDate, todayInTehran, YEAR_MONTH_DAY } from './birth-date.ts';
import { inAnyScript } from './digits.ts';
import { NATIONAL_ID, parseNationalId } from './national-id.ts';
import { IRANIAN_MOBILE, parsePhone } from './phone.ts';

export const text = () => v.string('Must be a string.');

export const nationalIdSchema = v.pipe(
  text(),
  v.description(
    'The national id: 10 digits with a valid check digit, also as 001-234567-9. Leading zeros are significant.',
  ),
  v.examples(['9999150829']),
  v.metadata({ pattern: inAnyScript(NATIONAL_ID) }),
  parsed(
    parseNationalId,
    'Must be a national id: 10 digits with its leading zeros and a valid check digit, also as 001-234567-9.',
  ),
);

export const birthDateSchema = v.pipe(
  text(),
  v.description(
    'Birth date as YYYY/M/D or YYYY-M-D. Years 1200–1599 are Solar Hijri (Jalali), 1800–2199 Gregorian. Not in the future in Asia/Tehran.',
  ),
  v.examples(['1370/1/15']),
  v.metadata({ pattern: inAnyScript(YEAR_MONTH_DAY) }),
  parsed(
    parseBirthDate,
    'Must be a real day, written YYYY/M/D or YYYY-M-D, in the Solar Hijri or Gregorian calendar.',
  ),
  v.check((date) => !isFutureDay(date, todayInTehran(systemClock())), 'Must not be in the future.'),
);

/** The phone of every example: a test phone of the sandbox. `npm start` registers its buyer. */
export const PHONE_EXAMPLE = '+989990123456';

export const phonePattern = v.metadata<string, { pattern: string }>({ pattern: inAnyScript(IRANIAN_MOBILE) });

export const parsedPhone = parsed(
  parsePhone,
  'Must be an Iranian mobile number: +98, 0098, 98, 0 or nothing, then 9 and nine digits, as in 09121234567.',
);

export const phoneSchema = v.pipe(
  text(),
  v.description(
    'An Iranian mobile number: +98, 0098, 98, 0 or nothing, then 9 and nine digits. Spaces and hyphens between digits are allowed, and ' +
      'parentheses around the 0, the three digits after it, or both.',
  ),
  v.examples([PHONE_EXAMPLE]),
  phonePattern,
  parsedPhone,
);
