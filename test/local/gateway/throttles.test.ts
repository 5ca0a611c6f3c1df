import { gatewayCounts, rateBasedFirewall, tokenBuckets } from '#local/gateway/throttles.ts';

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
});

const WINDOW_MS = 300_000;

const firewallAt = (nowMs = 0) => {
  const time = { nowMs };
  const firewall = rateBasedFirewall(() => time.nowMs);
  const allowed = (address: string, requests: number): number =>
    Array.from({ length: requests }, () => firewall.allows(address)).filter(Boolean).length;
  return { time, allowed };
};

describe('rateBasedFirewall', () => {
  it('allows 100 requests of an address in five minutes', () => {
    expect(firewallAt().allowed('a', 150)).toBe(100);
  });

  it('counts each address by itself', () => {
    const { allowed } = firewallAt();
    allowed('a', 150);
    expect(allowed('b', 1)).toBe(1);
  });

  it('allows an address again when its requests are more than five minutes old', () => {
    const { time, allowed } = firewallAt();
    allowed('a', 100);
    time.nowMs = WINDOW_MS - 1;
    expect(allowed('a', 1)).toBe(0);
    time.nowMs = 2 * WINDOW_MS;
    expect(allowed('a', 150)).toBe(100);
  });

  it('counts refused requests, so that an address that keeps sending stays refused', () => {
    const { time, allowed } = firewallAt();
    allowed('a', 100);
    for (let minute = 1; minute <= 10; minute += 1) {
      time.nowMs = minute * 60_000;
      expect(allowed('a', 100)).toBe(0);
    }
  });

  it('slides the window instead of starting a new one', () => {
    const { time, allowed } = firewallAt(WINDOW_MS - 1);
    expect(allowed('a', 60)).toBe(60);
    time.nowMs = WINDOW_MS + 1;
    expect(allowed('a', 60)).toBe(40);
  });
});

describe('gatewayCounts', () => {
  it('forget the tokens of every key and the requests of every address', () => {
    const { buckets, firewall, clear } = gatewayCounts(() => 0);
    const oneToken = { rateLimit: 1, burstLimit: 1 };
    for (let request = 0; request < 100; request += 1) firewall.allows('127.0.0.1');
    expect([buckets.consume('a', oneToken), firewall.allows('127.0.0.1')]).toEqual([true, false]);
    expect(buckets.consume('a', oneToken)).toBe(false);
    clear();
    expect([buckets.consume('a', oneToken), firewall.allows('127.0.0.1')]).toEqual([true, true]);
  });
});
