import { durationText } from '#admin/cli/commands/keys.ts';
import { collectLimit, isoOf, parseExpiry, parseGrace, wholeNumberUpTo } from '#admin/cli/option-parsers.ts';

describe('the times of the CLI', () => {
  it('parses durations, from seconds to days', () => {
    const texts = ['0', '10s', '30m', '24h', '30d'];
    expect(texts.map(parseGrace)).toEqual([0, 10, 1800, 86_400, 2_592_000]);
    for (const text of ['', '5', 'h', '-1h', '1.5h', '1w', '24 h', '9999999s', '31d']) {
      expect(() => parseGrace(text)).toThrow('at most 30d');
    }
  });

  it('parses the time of an expiry: from now, a day or a minute in UTC, or as the audit shows it', () => {
    const texts = [
      '2027-01-31',
      '2028-02-29',
      '2027-01-31T12:30Z',
      '2027-01-31T12:30:15Z',
      '2027-01-31T12:30:15.000Z',
    ];
    expect(texts.map((text) => isoOf(parseExpiry(text)))).toEqual([
      '2027-01-31T00:00:00Z',
      '2028-02-29T00:00:00Z',
      '2027-01-31T12:30:00Z',
      '2027-01-31T12:30:15Z',
      '2027-01-31T12:30:15Z',
    ]);
    const fromNow = parseExpiry('90d') - Date.now() / 1000;
    expect(Math.abs(fromNow - 90 * 86_400)).toBeLessThan(60);
    const others = ['2027-02-29', '2027-13-01', '2027-1-31', '31-01-2027', '2027-01-31T12:30', 'never'];
    for (const text of [...others, '2027-01-31T25:00Z', '2027-01-31T12:30:15.500Z', 'tomorrow']) {
      expect(() => parseExpiry(text)).toThrow('It must be like 90d');
    }
  });

  it('formats durations of at most a day, and times', () => {
    const texts = [0, 59.2, 60, 3540, 3600, 62_940].map(durationText);
    expect(texts).toEqual(['0 s', '60 s', '1 min', '59 min', '1 h 0 min', '17 h 29 min']);
    expect([isoOf(1_801_398_600), isoOf(undefined)]).toEqual(['2027-01-31T12:30:00Z', null]);
  });
});

it('the numbers of the CLI are written in digits alone', () => {
  expect([wholeNumberUpTo(100)('100'), collectLimit('sms-per-hour=007')]).toEqual([
    100,
    { 'sms-per-hour': 7 },
  ]);
  for (const text of ['0', '101', '1e2', '0x10', '5.0', ' 5', '']) {
    expect(() => wholeNumberUpTo(100)(text)).toThrow('from 1 to 100');
  }
  for (const number of ['=1=2', '=1e2', '=-1', '=', '']) {
    expect(() => collectLimit(`sms-per-hour${number}`)).toThrow('like sms-per-hour=10000');
  }
});
