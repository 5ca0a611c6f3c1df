import {
  durationText,
  failureText,
  hourText,
  summaryOf,
  totalsOf,
} from '#reference/pages/browser/key-texts.ts';

const quiet = { requests: 0, refused_links: 0, failed_checks: 0, sms: 0, failed_verifies: 0 };
const morning = { ...quiet, hour: '2026-11-05T08:00:00Z', requests: 1412, refused_links: 1, sms: 1 };
const noon = { ...quiet, hour: '2026-11-05T12:00:00Z', requests: 1, failed_checks: 2, failed_verifies: 1 };

describe('the text of an hour', () => {
  it('has its requests and its other counts that are not 0, in UTC', () => {
    expect(hourText(morning)).toBe('Thu 5 Nov, 08:00 UTC: 1,412 requests, 1 refused link, 1 SMS');
    expect(hourText(noon)).toBe('Thu 5 Nov, 12:00 UTC: 1 request, 2 failed checks, 1 failed verification');
    expect(hourText({ ...morning, ...quiet })).toBe('Thu 5 Nov, 08:00 UTC: 0 requests');
  });
});

describe('the totals', () => {
  it('are the sums of each count', () => {
    expect(totalsOf([morning, noon])).toEqual({
      requests: 1413,
      refused_links: 1,
      failed_checks: 2,
      failed_verifies: 1,
      sms: 1,
    });
  });
});

describe('the summary', () => {
  it('has all requests and the hour with the most', () => {
    expect(summaryOf([noon, morning])).toBe(
      '1,413 requests in 2 hours of the last seven days. The most in one hour: 1,412, Thu 5 Nov, 08:00 UTC.',
    );
    expect(summaryOf([noon])).toContain('1 request in 1 hour of the last seven days.');
  });

  it('says that nothing was counted', () => {
    expect(summaryOf([])).toBe('Nothing was counted in the last seven days.');
  });
});

describe('a duration', () => {
  it.each([
    [1, '1 s'],
    [59, '59 s'],
    [60, '1 min'],
    [61, '2 min'],
    [3600, '1 h 0 min'],
    [86_399, '24 h 0 min'],
    [30_300, '8 h 25 min'],
  ])('of %i seconds is %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

describe('the text of a failure', () => {
  it.each([
    [401, null, 'This key is not valid. It is mistyped, revoked or expired, or its account is suspended.'],
    [403, null, 'This key lacks the scope for this request.'],
    [429, '23', 'A limit of this key or of your address is used up. Try again in 23 s.'],
    [503, '90', 'The service is not available at the moment. Try again in 2 min.'],
    [500, null, 'The service answered with the unexpected status 500.'],
  ])('for status %i and Retry-After %j is: %s', (status, retryAfter, text) => {
    expect(failureText(status, retryAfter)).toBe(text);
  });
});
