import fc from 'fast-check';
import { isFutureDay, parseBirthDate, todayInTehran } from '#shared/values/birth-date.ts';
import { itForAll } from '#test/for-all.ts';
import { isFullRun } from '#test/full-run.ts';
import { inAnyScript } from '#test/shared/any-script.ts';

const DAY_MS = 24 * 3600 * 1000;

const range = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const isoDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

interface Span {
  readonly first: string;
  readonly last: string;
  /** Writes a day as `1370/1/15`. */
  readonly written: (ms: number) => string;
}

/** The first day of each month, its 29th and those after it, as written and as ISO days; in the full run every day. */
const daysOf = ({ first, last, written }: Span) => {
  const days: (readonly [text: string, iso: string])[] = [];
  for (let ms = Date.parse(first); ms <= Date.parse(last); ) {
    const text = written(ms);
    days.push([text, isoDay(ms)]);
    ms += (text.endsWith('/1') && !isFullRun ? 28 : 1) * DAY_MS;
  }
  return days;
};

const persian = new Intl.DateTimeFormat('en-u-ca-persian-nu-latn', {
  timeZone: 'UTC',
  year: 'numeric',
  month: 'numeric',
  day: 'numeric',
});

/** A day in the Solar Hijri calendar according to ICU, which shares no code with the code under test. */
const solarHijri = (ms: number): string => {
  const part = Object.fromEntries(persian.formatToParts(ms).map(({ type, value }) => [type, value]));
  return `${part.year}/${part.month}/${part.day}`;
};

/** The days of these years that not every month has, and those of months that no year has. */
const doubtful = (firstYear: number, lastYear: number): string[] =>
  range(firstYear, lastYear).flatMap((year) => [
    ...range(1, 12).flatMap((month) => [0, 29, 30, 31, 32].map((day) => `${year}/${month}/${day}`)),
    `${year}/0/1`,
    `${year}/13/1`,
  ]);

// Up to 1501/12/29 (in 2123). After 1501 the two libraries differ on a leap year; those days are in the future.
const solarHijriDays = daysOf({ first: '1821-03-21', last: '2123-03-20', written: solarHijri });
const gregorianDays = daysOf({
  first: '1800-01-01',
  last: '2199-12-31',
  written: (ms) => isoDay(ms).replace(/-0?/g, '/'),
});

describe('parseBirthDate, Solar Hijri', () => {
  it('converts the first and the last days of each month of 1200 to 1501 to the same Gregorian day as ICU', () => {
    expect([solarHijriDays[0]?.[0], solarHijriDays.at(-1)?.[0]]).toEqual(['1200/1/1', '1501/12/29']);
    expect(solarHijriDays.filter(([text, iso]) => parseBirthDate(text)?.isoDay !== iso)).toEqual([]);
  });

  it('rejects every day that ICU does not have', () => {
    const known = new Set(solarHijriDays.map(([text]) => text));
    const taken = doubtful(1200, 1501).filter((text) => parseBirthDate(text) !== undefined);
    expect(taken.filter((text) => !known.has(text))).toEqual([]);
  });
});

describe('parseBirthDate, Gregorian', () => {
  it('accepts the first and the last days of each month of 1800 to 2199, in the full run every day, and keeps each unchanged', () => {
    const texts = new Map(gregorianDays);
    expect([...texts].filter(([text, iso]) => parseBirthDate(text)?.isoDay !== iso)).toEqual([]);
    const taken = doubtful(1800, 2199).filter((text) => parseBirthDate(text) !== undefined);
    expect(taken.filter((text) => !texts.has(text))).toEqual([]);
  });

  it('converts Gregorian days to the same Solar Hijri day as ICU', () => {
    const wrong = solarHijriDays.filter(([text, iso]) => {
      const { year, month, day } = parseBirthDate(iso.replaceAll('-', '/'))?.jalali ?? {};
      return `${year}/${month}/${day}` !== text;
    });
    expect(wrong).toEqual([]);
  });
});

describe('parseBirthDate', () => {
  it('returns the same day for all forms of it, in either calendar', () => {
    const spellings = [
      '1370/1/15',
      '1370-01-15',
      '1370/01/15',
      '۱۳۷۰/۱/۱۵',
      '١٣٧٠/٠١/١٥',
      '1991/4/4',
      '1991-4-4',
      '۱۹۹۱-۰۴-۰۴',
    ];
    expect(new Set(spellings.map((text) => parseBirthDate(text)?.isoDay))).toEqual(new Set(['1991-04-04']));
    expect(new Set(spellings.map((text) => JSON.stringify(parseBirthDate(text)?.jalali))).size).toBe(1);
  });

  it('returns the calendar that was sent, with slashes, without zero padding and in ASCII digits', () => {
    const month = fc.integer({ min: 1, max: 12 });
    const day = fc.integer({ min: 1, max: 28 });
    const year = fc.oneof(fc.integer({ min: 1200, max: 1599 }), fc.integer({ min: 1800, max: 2199 }));
    const padded = (value: number, width: number) => String(value).padStart(width, '0');
    const sent = fc
      .tuple(year, month, day, fc.constantFrom(1, 2), fc.constantFrom(1, 2), fc.constantFrom('/', '-'))
      .chain(([y, m, d, monthWidth, dayWidth, mark]) =>
        fc.tuple(
          fc.constant(`${y}/${m}/${d}`),
          inAnyScript([y, padded(m, monthWidth), padded(d, dayWidth)].join(mark)),
        ),
      );
    fc.assert(fc.property(sent, ([text, written]) => expect(parseBirthDate(written)?.text).toBe(text)));
  });

  itForAll([1199, 1600, 1699, 1799, 2200, '0000', 9999])(
    'rejects a year that belongs to neither calendar',
    (year) => {
      expect(parseBirthDate(`${year}/1/1`)).toBeUndefined();
    },
  );

  itForAll([
    ['an empty string', ''],
    ['no separators', '13700115'],
    ['dots', '1370.1.15'],
    ['the day first', '15/1/1370'],
    ['a year of two digits', '70/1/15'],
    ['a year of five digits', '01370/1/15'],
    ['a month of three digits', '1370/001/15'],
    ['no day', '1370/1'],
    ['a fourth part', '1370/1/15/1'],
    ['spaces within', '1370 / 1 / 15'],
    ['a sign', '1370/-1/15'],
    ['a fraction', '1370/1/1.5'],
    ['hexadecimal', '1370/1/0x1'],
    ['an empty month', '1370//15'],
    ['an Arabic date separator', '۱۳۷۰؍۱؍۱۵'],
    ['a timestamp', '1991/4/4T00:00:00Z'],
  ])('rejects every other form', (_case, text) => {
    expect(parseBirthDate(text)).toBeUndefined();
  });
});

describe('todayInTehran', () => {
  it.each([
    ['the last millisecond of a day', '2026-11-21T20:29:59.999Z', '2026-11-21'],
    ['the first moment of the next day', '2026-11-21T20:30:00.000Z', '2026-11-22'],
    ['the last moment of a year', '2026-12-31T20:29:59.999Z', '2026-12-31'],
    ['the first moment of the next year', '2026-12-31T20:30:00.000Z', '2027-01-01'],
  ])('returns the day in Tehran at %s', (_case, iso, day) => {
    expect(todayInTehran(Date.parse(iso))).toBe(day);
  });

  it('equals the day of the time-zone database since daylight saving time was abolished', () => {
    const tehran = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Asia/Tehran' });
    const instants = fc.date({
      min: new Date('2022-09-22T00:00:00Z'),
      max: new Date('2050-01-01'),
      noInvalidDate: true,
    });
    fc.assert(
      fc.property(instants, (instant) => {
        expect(todayInTehran(instant.getTime())).toBe(tehran.format(instant));
      }),
    );
  });
});

describe('isFutureDay', () => {
  const isFuture = (text: string, today: string): boolean =>
    [parseBirthDate(text)].flatMap((date) => date ?? []).some((date) => isFutureDay(date, today));

  it('is false for today and true for tomorrow, in both calendars', () => {
    expect(isFuture('2026/11/21', '2026-11-21')).toBe(false);
    expect(isFuture('2026/11/22', '2026-11-21')).toBe(true);
    expect(isFuture('1405/8/30', '2026-11-21')).toBe(false);
    expect(isFuture('1405/9/1', '2026-11-21')).toBe(true);
  });

  it('compares years, months and days as numbers', () => {
    const days = fc.nat({ max: gregorianDays.length - 1 });
    fc.assert(
      fc.property(days, days, (born, now) => {
        const [birthDay, today] = [gregorianDays[born]?.[0] ?? '', gregorianDays[now]?.[1] ?? ''];
        expect(isFuture(birthDay, today)).toBe(born > now);
      }),
    );
  });
});
