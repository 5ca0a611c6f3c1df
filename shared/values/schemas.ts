import * as v from 'valibot';
import { systemClock } from '#shared/clock.ts';
import { parsed } from '#shared/fields.ts';
import { isFutureDay, parseBirthDate, todayInTehran, YEAR_MONTH_DAY } from './birth-date.ts';
import { inAnyScript } from './digits.ts';
import { parseNationalId, TEN_DIGITS } from './national-id.ts';
import { IRANIAN_MOBILE, parsePhone } from './phone.ts';

export const text = () => v.string('Must be a string.');

export const nationalIdSchema = v.pipe(
  text(),
  v.description('The national id: 10 digits with a valid check digit. Leading zeros are significant.'),
  v.examples(['9999150829']),
  v.metadata({ pattern: inAnyScript(TEN_DIGITS) }),
  parsed(parseNationalId, 'Must be a national id: 10 digits with a valid check digit.'),
);

export const birthDateSchema = v.pipe(
  text(),
  v.description(
    'Birth date as YYYY/M/D. Years 1200–1599 are Solar Hijri (Jalali), 1800–2199 Gregorian. Not in the future in Asia/Tehran.',
  ),
  v.examples(['1370/1/15']),
  v.metadata({ pattern: inAnyScript(YEAR_MONTH_DAY) }),
  parsed(parseBirthDate, 'Must be a real day, written YYYY/M/D, in the Solar Hijri or Gregorian calendar.'),
  v.check((date) => !isFutureDay(date, todayInTehran(systemClock())), 'Must not be in the future.'),
);

/** The phone of every example: a test phone of the sandbox. `npm start` registers its buyer. */
export const PHONE_EXAMPLE = '+989990123456';

export const phonePattern = v.metadata<string, { pattern: string }>({ pattern: inAnyScript(IRANIAN_MOBILE) });

export const parsedPhone = parsed(
  parsePhone,
  'Must be an Iranian mobile number: +98 or 0, then 9 and nine digits.',
);

export const phoneSchema = v.pipe(
  text(),
  v.description(
    'An Iranian mobile number: +98 or 0, then 9 and nine digits. Spaces and hyphens between digits are allowed.',
  ),
  v.examples([PHONE_EXAMPLE]),
  phonePattern,
  parsedPhone,
);
