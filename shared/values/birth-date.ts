import { isValidJalaaliDate, toGregorian, toJalaali } from 'jalaali-js';
import { plainText } from '#shared/values/plain-text.ts';

export interface BirthDate {
  /** In the calendar that was sent, in ASCII digits, with `/` and without zero padding: `1370/1/15`. */
  readonly text: string;
  /** The day in the Gregorian calendar, `1991-04-04`. Two forms of one day have the same value. */
  readonly isoDay: string;
  /** The day in the Solar Hijri calendar, which the registries use. */
  readonly jalali: { readonly year: number; readonly month: number; readonly day: number };
}

const YEAR_MONTH_DAY = /^([0-9]{4})[/-]([0-9]{1,2})[/-]([0-9]{1,2})$/;

const utcDate = (year: number, month: number, day: number): Date => new Date(Date.UTC(year, month - 1, day));

const isoDayOf = (date: Date): string => date.toISOString().slice(0, 'YYYY-MM-DD'.length);

/** Date.UTC turns a day that does not exist into one of another month. */
const isGregorianDay = (year: number, month: number, day: number): boolean => {
  const date = utcDate(year, month, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
};

/** Years 1200–1599 are Solar Hijri, 1800–2199 Gregorian. Undefined for a day that its calendar does not have; leap years count. */
export const parseBirthDate = (sent: string): BirthDate | undefined => {
  const match = YEAR_MONTH_DAY.exec(plainText(sent));
  if (match === null) return undefined;
  const [year, month, day] = match.slice(1).map(Number) as [number, number, number];
  const text = `${year}/${month}/${day}`;
  if (year >= 1200 && year <= 1599 && isValidJalaaliDate(year, month, day)) {
    const { gy, gm, gd } = toGregorian(year, month, day);
    return { text, isoDay: isoDayOf(utcDate(gy, gm, gd)), jalali: { year, month, day } };
  }
  if (year >= 1800 && year <= 2199 && isGregorianDay(year, month, day)) {
    const { jy, jm, jd } = toJalaali(year, month, day);
    return { text, isoDay: isoDayOf(utcDate(year, month, day)), jalali: { year: jy, month: jm, day: jd } };
  }
  return undefined;
};

/** Iran has had no daylight saving time since 2022. Intl.DateTimeFormat would take 20 ms of a cold start to load its time zones. */
const TEHRAN_OFFSET_MS = 3.5 * 3600 * 1000;

/** An ISO day. */
export const todayInTehran = (nowMs: number): string => isoDayOf(new Date(nowMs + TEHRAN_OFFSET_MS));

/** `today` is an ISO day; ISO days sort as text. */
export const isFutureDay = (birthDate: BirthDate, today: string): boolean => birthDate.isoDay > today;
