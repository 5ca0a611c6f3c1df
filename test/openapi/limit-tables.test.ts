import { duration } from '#openapi/limit-tables.ts';

describe('a duration', () => {
  it.each([
    [1, '1 second'],
    [90, '90 seconds'],
    [60, '1 minute'],
    [600, '10 minutes'],
    [3600, '1 hour'],
    [5400, '90 minutes'],
    [86_400, '24 hours'],
  ])('of %d seconds is written as %s', (seconds, text) => {
    expect(duration(seconds)).toBe(text);
  });
});
