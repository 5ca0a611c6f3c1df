import {
  KEY_LIMIT_NAMES,
  type KeyLimitName,
  keyLimit,
  type LimitOverrides,
} from '#shared/rate-limits/key-limits.ts';
import type { PlanName } from '#shared/rate-limits/plans.ts';

describe('keyLimit', () => {
  it('is a hundred times that of the plan where the registry is the sandbox, if a registry decides what it counts', () => {
    const key = { keyId: 'key_1', plan: 'free', limits: {} } as const;
    const times = KEY_LIMIT_NAMES.map((name) => [
      name,
      keyLimit(name, { ...key, registryIsSandbox: true }).limit / keyLimit(name, key).limit,
    ]);
    expect(Object.fromEntries(times)).toEqual({
      'sms-per-hour': 1,
      'failed-checks-per-hour': 100,
      'refused-links-per-hour': 100,
      'paid-checks-per-day': 100,
      'failed-verifies-per-hour': 1,
    });
  });

  it('is the override of a key as it is, also where the registry is the sandbox', () => {
    const limits = { 'failed-checks-per-hour': 3 };
    const key = { keyId: 'key_1', plan: 'free', limits, registryIsSandbox: true } as const;
    expect(keyLimit('failed-checks-per-hour', key).limit).toBe(3);
  });

  const limitOf = (name: KeyLimitName, plan: PlanName, limits: LimitOverrides = {}) =>
    keyLimit(name, { keyId: 'key_1', plan, limits }).limit;

  it('prefers the override of a key', () => {
    expect(limitOf('sms-per-hour', 'free', { 'sms-per-hour': 0 })).toBe(0);
    expect(limitOf('paid-checks-per-day', 'free', { 'sms-per-hour': 0 })).toBe(500);
  });
});
