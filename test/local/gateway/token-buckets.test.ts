import { tokenBuckets } from '#local/gateway/token-buckets.ts';

const FREE = { rateLimit: 100 / 60, burstLimit: 200 };

const startAt = (nowMs = 0) => {
  const time = { nowMs };
  const buckets = tokenBuckets(() => time.nowMs);
  const takeMany = (name: string, times: number) =>
    Array.from({ length: times }, () => buckets.take(name, FREE)).filter(Boolean).length;
  return { time, buckets, takeMany };
};

describe('tokenBuckets', () => {
  it('holds as many as the burst, and no more', () => {
    expect(startAt().takeMany('a', 250)).toBe(200);
  });

  it('never refuses a caller who keeps to the plan: all of one minute at its end, all of the next at its start', () => {
    const { time, takeMany } = startAt(59_999);
    expect(takeMany('a', 100)).toBe(100);
    time.nowMs = 60_000;
    expect(takeMany('a', 100)).toBe(100);
  });

  it('refills at its rate, and to the brim only', () => {
    const { time, takeMany } = startAt();
    takeMany('a', 200);
    time.nowMs = 60_000;
    expect(takeMany('a', 250)).toBe(100);
    time.nowMs = 10_000_000;
    expect(takeMany('a', 250)).toBe(200);
  });

  it('keeps a bucket for each name', () => {
    const { takeMany } = startAt();
    takeMany('a', 200);
    expect(takeMany('a', 1)).toBe(0);
    expect(takeMany('b', 1)).toBe(1);
  });

  it('does not mind a clock that is set back', () => {
    const { time, takeMany } = startAt(60_000);
    takeMany('a', 150);
    time.nowMs = 0;
    expect(takeMany('a', 60)).toBe(50);
  });

  it('takes a changed throttle at once', () => {
    const { buckets } = startAt();
    buckets.take('a', FREE);
    expect(buckets.take('a', { rateLimit: 1, burstLimit: 0 })).toBe(false);
  });

  it('forgets nobody who has less than a full bucket, however many there are', () => {
    const { takeMany } = startAt();
    takeMany('greedy', 200);
    for (let index = 0; index < 10_050; index += 1) takeMany(`visitor ${index}`, 1);
    expect(takeMany('greedy', 1)).toBe(0);
  });
});
