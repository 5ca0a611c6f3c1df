import { rateBasedFirewall } from '#local/gateway/firewall.ts';

const WINDOW_MS = 300_000;

const startAt = (nowMs = 0) => {
  const time = { nowMs };
  const firewall = rateBasedFirewall(() => time.nowMs);
  const allowed = (address: string, requests: number): number =>
    Array.from({ length: requests }, () => firewall.allows(address)).filter(Boolean).length;
  return { time, allowed };
};

describe('rateBasedFirewall', () => {
  it('allows 100 requests of an address in five minutes', () => {
    expect(startAt().allowed('a', 150)).toBe(100);
  });

  it('counts each address by itself', () => {
    const { allowed } = startAt();
    allowed('a', 150);
    expect(allowed('b', 1)).toBe(1);
  });

  it('allows an address again when its requests are more than five minutes old', () => {
    const { time, allowed } = startAt();
    allowed('a', 100);
    time.nowMs = WINDOW_MS - 1;
    expect(allowed('a', 1)).toBe(0);
    time.nowMs = 2 * WINDOW_MS;
    expect(allowed('a', 150)).toBe(100);
  });

  it('counts refused requests, so that an address that keeps sending stays refused', () => {
    const { time, allowed } = startAt();
    allowed('a', 100);
    for (let minute = 1; minute <= 10; minute += 1) {
      time.nowMs = minute * 60_000;
      expect(allowed('a', 100)).toBe(0);
    }
  });

  it('slides the window instead of starting a new one', () => {
    const { time, allowed } = startAt(WINDOW_MS - 1);
    expect(allowed('a', 60)).toBe(60);
    time.nowMs = WINDOW_MS + 1;
    expect(allowed('a', 60)).toBe(40);
  });

  it('keeps the count of a busy address while it removes old ones', () => {
    const { time, allowed } = startAt();
    for (let index = 0; index < 10_050; index += 1) allowed(`visitor ${index}`, 1);
    time.nowMs = 2 * WINDOW_MS;
    allowed('busy', 100);
    allowed('another', 1);
    expect(allowed('busy', 1)).toBe(0);
  });
});
