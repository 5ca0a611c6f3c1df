import * as v from 'valibot';
import { systemClock } from '#shared/clock.ts';
import { inAnyScript } from '#shared/digits.ts';
import { isFutureDay, parseBirthDate, todayInTehran, YEAR_MONTH_DAY } from './birth-date.ts';
import { parseDisplayName } from './display-name.ts';
import { parseNationalId, TEN_DIGITS } from './national-id.ts';
import { IRANIAN_MOBILE, parsePhone } from './phone.ts';

/**
 * A string field that a parser of ours reads; what the parser does not know is refused with `message`. What a caller can be told of
 * the parser in JSON Schema stands before it, as metadata: it never refuses what the parser takes.
 */
const parsed = <T>(parse: (text: string) => T | undefined, message: string) =>
  v.rawTransform<string, T>(({ dataset, addIssue, NEVER }) => {
    const value = parse(dataset.value);
    if (value !== undefined) return value;
    addIssue({ message });
    return NEVER;
  });

const text = () => v.string('Must be a string.');

export const nationalIdSchema = v.pipe(
  text(),
  v.description('The national id: 10 digits with a right check digit. Leading zeros matter.'),
  v.examples(['9999150829']),
  v.metadata({ pattern: inAnyScript(TEN_DIGITS) }),
  parsed(parseNationalId, 'Must be a national id: 10 digits with a right check digit.'),
);

export const birthDateSchema = v.pipe(
  text(),
  v.description(
    'Birth date as YYYY/M/D. Years 1200–1599 are Solar Hijri (Jalali), 1800–2199 Gregorian. Not in the future in Tehran.',
  ),
  v.examples(['1370/1/15']),
  v.metadata({ pattern: inAnyScript(YEAR_MONTH_DAY) }),
  parsed(parseBirthDate, 'Must be a real day, written YYYY/M/D, in the Solar Hijri or Gregorian calendar.'),
  v.check((date) => !isFutureDay(date, todayInTehran(systemClock())), 'Must not be in the future.'),
);

export const phoneSchema = v.pipe(
  text(),
  v.description(
    'An Iranian mobile number: +98 or 0, then 9 and nine digits. Spaces and hyphens between digits are allowed.',
  ),
  v.examples(['+989121234567']),
  v.metadata({ pattern: inAnyScript(IRANIAN_MOBILE) }),
  parsed(parsePhone, 'Must be an Iranian mobile number: +98 or 0, then 9 and nine digits.'),
);

export const displayNameSchema = v.pipe(
  text(),
  v.description(
    'The name to show: 1–100 characters after trimming, without control or bidi-override characters.',
  ),
  v.examples(['Sara Ahmadi']),
  v.metadata({ pattern: '\\S' }),
  parsed(parseDisplayName, 'Must be 1 to 100 characters, without control or bidi-override characters.'),
);

/** The body of POST /v1/users. */
export const newUserSchema = v.strictObject({
  national_id: nationalIdSchema,
  birth_date: birthDateSchema,
  phone: phoneSchema,
  display_name: displayNameSchema,
});

export type NewUser = v.InferOutput<typeof newUserSchema>;

/** A buyer linked to a seller, as answers show it. */
export const userSchema = v.pipe(
  v.object({
    id: v.pipe(
      v.string(),
      v.description('The user: usr_ and 22 characters.'),
      v.examples(['usr_5Xq2ZtBv0aLkW9yRc3mNpd']),
    ),
    national_id: v.pipe(
      v.string(),
      v.description('Masked: six stars and the last four digits.'),
      v.examples(['******0829']),
    ),
    birth_date: v.pipe(v.string(), v.description('As it was sent, un-padded.'), v.examples(['1370/1/15'])),
    phone: v.pipe(v.string(), v.description('E.164.'), v.examples(['+989121234567'])),
    display_name: v.pipe(v.string(), v.examples(['Sara Ahmadi'])),
    created_at: v.pipe(
      v.string(),
      v.isoTimestamp(),
      v.description('UTC.'),
      v.examples(['2026-11-21T08:30:00.000Z']),
    ),
  }),
  v.title('User'),
);

export type UserView = v.InferOutput<typeof userSchema>;

export const DEFAULT_PAGE_SIZE = 20;
export const MAX_PAGE_SIZE = 100;

/** Text on the wire, a number to everyone else. */
const integerUpTo = (maximum: number) =>
  v.metadata<string, Readonly<Record<string, unknown>>>({ type: 'integer', minimum: 1, maximum });

const wholeNumber = (message: string, max: number) =>
  parsed((sent) => {
    const value = /^[1-9][0-9]*$/.test(sent) ? Number(sent) : undefined;
    return value !== undefined && value <= max ? value : undefined;
  }, message);

/** The query of GET /v1/users. */
export const userPageQuerySchema = v.strictObject({
  page: v.optional(
    v.pipe(
      v.string(),
      v.description('Which page, counted from 1.'),
      integerUpTo(Number.MAX_SAFE_INTEGER),
      wholeNumber('Must be an integer from 1 on.', Number.MAX_SAFE_INTEGER),
    ),
    '1',
  ),
  page_size: v.optional(
    v.pipe(
      v.string(),
      v.description(`How many users a page holds, 1 to ${MAX_PAGE_SIZE}.`),
      integerUpTo(MAX_PAGE_SIZE),
      wholeNumber(`Must be an integer from 1 to ${MAX_PAGE_SIZE}.`, MAX_PAGE_SIZE),
    ),
    String(DEFAULT_PAGE_SIZE),
  ),
});

/** The answer of GET /v1/users. */
export const userPageSchema = v.pipe(
  v.object({
    data: v.array(userSchema),
    page: v.pipe(v.number(), v.integer(), v.minValue(1), v.examples([1])),
    page_size: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(MAX_PAGE_SIZE),
      v.examples([DEFAULT_PAGE_SIZE]),
    ),
    total: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(0),
      v.description('Users linked to this account.'),
      v.examples([1]),
    ),
    total_pages: v.pipe(v.number(), v.integer(), v.minValue(0), v.examples([1])),
  }),
  v.title('UserPage'),
);
