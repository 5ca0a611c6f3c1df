import { durationText, isoOf, parseDuration, parseMoment } from '#admin/cli/times.ts';

const NOW = Date.parse('2026-11-21T10:00:00Z');
const at = (iso: string) => Date.parse(iso) / 1000;

describe('the times of the CLI', () => {
  it.each([
    ['0', 0],
    ['10s', 10],
    ['30m', 1800],
    ['24h', 86_400],
    ['90d', 7_776_000],
  ])('parses the duration %s as %i seconds', (text, seconds) => {
    expect(parseDuration(text)).toBe(seconds);
  });

  it.each([
    [0, '0 s'],
    [59.2, '60 s'],
    [60, '1 min'],
    [3541, '1 h'],
    [3600, '1 h'],
    [62_940, '17 h 29 min'],
    [86_400, '1 d'],
    [273_600, '3 d 4 h'],
  ])('formats %d seconds as %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });

  it.each(['', '5', 'h', '-1h', '1.5h', '1w', '24 h', '9999999d'])('rejects %j as a duration', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it.each([
    ['90d', '2027-02-19T10:00:00Z'],
    ['2027-01-31', '2027-01-31T00:00:00Z'],
    ['2028-02-29', '2028-02-29T00:00:00Z'],
    ['2027-01-31T12:30Z', '2027-01-31T12:30:00Z'],
    ['2027-01-31T12:30:15Z', '2027-01-31T12:30:15Z'],
  ])('parses the time %s as %s', (text, iso) => {
    expect(parseMoment(text, NOW)).toBe(at(iso));
  });

  it.each([
    '2027-02-29',
    '2027-13-01',
    '2027-1-31',
    '31-01-2027',
    '2027-01-31T12:30',
    '2027-01-31T25:00Z',
    'never',
    'tomorrow',
  ])('rejects %s as a time', (text) => {
    expect(parseMoment(text, NOW)).toBeUndefined();
  });

  it('formats times, and never for a missing one', () => {
    expect([isoOf(at('2027-01-31T12:30:00Z')), isoOf(undefined)]).toEqual(['2027-01-31T12:30:00Z', null]);
  });
});
