import { planItem, type RateLimitItem, rateLimitHeaders } from '#shared/rate-limits/headers.ts';

describe('rateLimitHeaders', () => {
  it('lists the quota and the state of each limit', () => {
    const hourly: RateLimitItem = {
      name: 'sms-per-hour',
      limit: 100,
      windowSeconds: 3600,
      remaining: 0,
      resetSeconds: 1800,
    };
    expect(rateLimitHeaders([planItem('free', 57, 23), hourly])).toEqual({
      'RateLimit-Policy': '"free";q=100;w=60, "sms-per-hour";q=100;w=3600',
      RateLimit: '"free";r=57;t=23, "sms-per-hour";r=0;t=1800',
    });
  });

  it('is absent without a limit', () => {
    expect(rateLimitHeaders([])).toEqual({});
  });
});
