import { tokenBuckets } from '#local/gateway/token-buckets.ts';

const FREE = { rateLimit: 100 / 60, burstLimit: 200 };

const bucketsAt = (nowMs = 0) => {
  const time = { nowMs };
  const buckets = tokenBuckets(() => time.nowMs);
  const consumeMany = (name: string, times: number) =>
    Array.from({ length: times }, () => buckets.consume(name, FREE)).filter(Boolean).length;
  return { time, buckets, consumeMany };
};

describe('tokenBuckets', () => {
  it('allows as many requests as the burst limit', () => {
    expect(bucketsAt().consumeMany('a', 250)).toBe(200);
  });

  it('does not refuse a caller who uses one minute at its end and the next at its start', () => {
    const { time, consumeMany } = bucketsAt(59_999);
    expect(consumeMany('a', 100)).toBe(100);
    time.nowMs = 60_000;
    expect(consumeMany('a', 100)).toBe(100);
  });

  it('refills at its rate up to the burst limit', () => {
    const { time, consumeMany } = bucketsAt();
    consumeMany('a', 200);
    time.nowMs = 60_000;
    expect(consumeMany('a', 250)).toBe(100);
    time.nowMs = 10_000_000;
    expect(consumeMany('a', 250)).toBe(200);
  });

  it('has a bucket for each name', () => {
    const { consumeMany } = bucketsAt();
    consumeMany('a', 200);
    expect(consumeMany('a', 1)).toBe(0);
    expect(consumeMany('b', 1)).toBe(1);
  });

  it('adds and removes no tokens when the clock is set back', () => {
    const { time, consumeMany } = bucketsAt(60_000);
    consumeMany('a', 150);
    time.nowMs = 0;
    expect(consumeMany('a', 60)).toBe(50);
  });

  it('applies a changed throttle at once', () => {
    const { buckets } = bucketsAt();
    buckets.consume('a', FREE);
    expect(buckets.consume('a', { rateLimit: 1, burstLimit: 0 })).toBe(false);
  });

  it('forgets what each name consumed when it is cleared', () => {
    const { buckets, consumeMany } = bucketsAt();
    expect(consumeMany('a', 201)).toBe(200);
    buckets.clear();
    expect(consumeMany('a', 1)).toBe(1);
  });
});
