import { type KeyLimitName, keyLimit, type LimitOverrides } from '#shared/rate-limits/key-limits.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';

describe('keyLimit', () => {
  const limitOf = (name: KeyLimitName, plan: PlanName, limits: LimitOverrides = {}) =>
    keyLimit(name, { keyId: 'key_1', plan, limits }).limit;

  it('prefers the override of a key', () => {
    expect(limitOf('sms-per-hour', 'free', { 'sms-per-hour': 0 })).toBe(0);
    expect(limitOf('paid-checks-per-day', 'free', { 'sms-per-hour': 0 })).toBe(500);
  });
});
