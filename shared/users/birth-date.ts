import { isValidJalaaliDate, toGregorian, toJalaali } from 'jalaali-js';
import { toAsciiDigits } from '#shared/digits.ts';

/** A calendar day of birth, in the form that was sent and as the one day that it is in both calendars. */
export interface BirthDate {
  /** As sent, in ASCII digits and un-padded: `1370/1/15`. */
  readonly text: string;
  /** The day in the Gregorian calendar, `1991-04-04`: two spellings of one day are equal here. */
  readonly isoDay: string;
  /** The day in the Solar Hijri calendar, which the registries speak. */
  readonly jalali: { readonly year: number; readonly month: number; readonly day: number };
}

/** What has the shape of a birth date, in ASCII digits. */
export const YEAR_MONTH_DAY = /^([0-9]{4})\/([0-9]{1,2})\/([0-9]{1,2})$/;

const isoDayOf = (year: number, month: number, day: number): string =>
  `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;

const isGregorianDay = (year: number, month: number, day: number): boolean => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

/**
 * Reads `YYYY/M/D` (zero-padding accepted). Years 1200–1599 are Solar Hijri, 1800–2199 Gregorian. Undefined unless it is a real
 * day of its calendar, leap years counted.
 */
export const parseBirthDate = (sent: string): BirthDate | undefined => {
  const match = YEAR_MONTH_DAY.exec(toAsciiDigits(sent));
  if (match === null) return undefined;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const text = `${year}/${month}/${day}`;
  if (year >= 1200 && year <= 1599) {
    if (!isValidJalaaliDate(year, month, day)) return undefined;
    const { gy, gm, gd } = toGregorian(year, month, day);
    return { text, isoDay: isoDayOf(gy, gm, gd), jalali: { year, month, day } };
  }
  if (year >= 1800 && year <= 2199) {
    if (!isGregorianDay(year, month, day)) return undefined;
    const { jy, jm, jd } = toJalaali(year, month, day);
    return { text, isoDay: isoDayOf(year, month, day), jalali: { year: jy, month: jm, day: jd } };
  }
  return undefined;
};

/** Made at the first use: time-zone data costs milliseconds to load, and only one operation needs it. */
let tehranDay: Intl.DateTimeFormat | undefined;

/** Today in Tehran as an ISO day: the day that decides whether a birth date lies in the future. */
export const todayInTehran = (nowMs: number): string => {
  tehranDay ??= new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
    timeZone: 'Asia/Tehran',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
  });
  // In parts: how a locale writes its short date changes from one ICU release to the next; its parts do not.
  const parts = Object.fromEntries(tehranDay.formatToParts(nowMs).map(({ type, value }) => [type, value]));
  return `${parts.year}-${parts.month}-${parts.day}`;
};

/** ISO days compare as text. */
export const isFutureDay = (birthDate: BirthDate, today: string): boolean => birthDate.isoDay > today;
