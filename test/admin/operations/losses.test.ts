import { lossesOf, readPeakUse } from '#admin/operations/losses.ts';
import type { ApiKey } from '#shared/api-keys/api-key-item.ts';
import { KEY_LIMIT_NAMES, keyLimit } from '#shared/rate-limits/key-limits.ts';
import { itForAll } from '#test/for-all.ts';
import { limiterOn } from '#test/shared/rate-limits/limiter-on.ts';
import { useAdministration } from './use-administration.ts';

const NO_USE = {
  ...{ 'sms-per-hour': 0, 'failed-checks-per-hour': 0, 'refused-links-per-hour': 0 },
  ...{ 'failed-verifies-per-hour': 0, 'paid-checks-per-day': 0 },
};

const KEY: ApiKey = {
  ...{ seller_id: 'sel_1', key_id: 'key_1', name: 'server', plan: 'free', usage_id: 'u', status: 'active' },
  ...{ scopes: ['users:read', 'users:write'], created_at: '', secrets: [], version: 1 },
};

type Part = Partial<ApiKey>;

const losses = (before: Part, after: Part, used: Partial<typeof NO_USE> = {}, registryIsSandbox = false) =>
  lossesOf(
    { before: { ...KEY, ...before }, after: { ...KEY, ...before, ...after } },
    { peaks: { ...NO_USE, ...used }, registryIsSandbox },
  );

describe('the losses of a change', () => {
  itForAll<[string, Part, Part, Partial<typeof NO_USE>, readonly string[]]>([
    [
      'a scope, also beside a new one',
      {},
      { scopes: ['users:write', 'key:rotate'] },
      {},
      ['scope users:read'],
    ],
    [
      'a smaller plan, with the limits below their use',
      { plan: 'professional' },
      { plan: 'free' },
      { 'sms-per-hour': 101, 'paid-checks-per-day': 500 },
      ['900 of 1,000 requests a minute', 'sms-per-hour 2,000 → 100 (it used 101)'],
    ],
    [
      'a limit below its use, in a larger plan too',
      {},
      { plan: 'professional', limits: { 'sms-per-hour': 99 } },
      { 'sms-per-hour': 100 },
      ['sms-per-hour 100 → 99 (it used 100)'],
    ],
    [
      'an override that ends',
      { limits: { 'sms-per-hour': 300 } },
      { limits: undefined },
      { 'sms-per-hour': 200 },
      ['sms-per-hour 300 → 100 (it used 200)'],
    ],
    ['an end', {}, { expires_at: 1_800_000_000 }, {}, ['the time after 2027-01-15T08:00:00.000Z']],
    [
      'an earlier end',
      { expires_at: 61 },
      { expires_at: 60 },
      {},
      ['the time after 1970-01-01T00:01:00.000Z'],
    ],
  ])('are %s', (_title, before, after, used, expected) => {
    expect(losses(before, after, used)).toEqual(expected);
  });

  itForAll<[string, Part, Part, Partial<typeof NO_USE>]>([
    ['another name', {}, { name: 'checkout' }, {}],
    ['another scope', {}, { scopes: ['users:write', 'users:read', 'key:rotate'] }, {}],
    ['a larger plan', {}, { plan: 'professional' }, { 'sms-per-hour': 5000 }],
    [
      'a smaller limit that has room for its use',
      {},
      { limits: { 'sms-per-hour': 5 } },
      { 'sms-per-hour': 5 },
    ],
    [
      'a larger limit that is below its use',
      { limits: { 'sms-per-hour': 5 } },
      { limits: { 'sms-per-hour': 6 } },
      { 'sms-per-hour': 9 },
    ],
    ['a later end', { expires_at: 60 }, { expires_at: 61 }, {}],
    ['no end', { expires_at: 60 }, { expires_at: undefined }, {}],
  ])('are none for %s', (_title, before, after, used) => {
    expect(losses(before, after, used)).toEqual([]);
  });

  it('compare with the number of the sandbox where the registry is the sandbox', () => {
    const after = { limits: { 'failed-checks-per-hour': 20 } };
    const used = { 'failed-checks-per-hour': 30 };
    expect(losses({}, after, used, true)).toEqual(['failed-checks-per-hour 1,000 → 20 (it used 30)']);
    expect(losses({}, after, used, false)).toEqual([]);
  });
});

describe('the peak use', () => {
  const newAdministration = useAdministration();

  it('is the most in one window of the last seven days, for each limit', async () => {
    const { admin, table, clock } = await newAdministration();
    const limiter = limiterOn(table);
    const count = async (time: string, times: number) => {
      for (let index = 0; index < times; index += 1)
        for (const name of KEY_LIMIT_NAMES)
          await limiter.increment(
            keyLimit(name, { keyId: 'key_1', plan: 'professional', limits: {} }),
            Date.parse(time),
          );
    };
    await count('2026-11-14T09:59:00Z', 9);
    await count('2026-11-20T10:00:00Z', 2);
    await count('2026-11-21T10:00:00Z', 1);
    clock.set('2026-11-21T10:20:00Z');
    const peaks = await readPeakUse(admin, 'key_1');
    expect(peaks).toEqual({
      ...{ 'sms-per-hour': 2, 'failed-checks-per-hour': 2, 'refused-links-per-hour': 2 },
      ...{ 'failed-verifies-per-hour': 2, 'paid-checks-per-day': 9 },
    });
    expect(Object.keys(peaks).sort()).toEqual([...KEY_LIMIT_NAMES].sort());
  });
});
