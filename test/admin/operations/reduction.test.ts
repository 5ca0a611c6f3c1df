import { isReduced } from '#admin/operations/reduction.ts';
import type { ApiKey, SecretSummary } from '#shared/api-keys/api-key-item.ts';
import { itForAll } from '#test/for-all.ts';

const NOW = 1_800_000_000;
/** A change that ends a secret sooner than this is a reduction. */
const REACH = 600;

const secret = (name: string, ends_at?: number): SecretSummary => ({
  ...{ hash: name, number: 1, prefix: 'blk_test_', last_four: name, created_at: '', created_by: 'admin' },
  ...(ends_at !== undefined && { ends_at }),
});

const KEY: ApiKey = {
  ...{ seller_id: 'sel_1', key_id: 'key_1', name: 'server', plan: 'free', usage_id: 'u', status: 'active' },
  ...{ scopes: ['users:read', 'users:write'], created_at: '', version: 1 },
  secrets: [secret('new'), secret('old', NOW + 3600)],
};

type Part = Partial<ApiKey>;

const isReducedBy = (before: Part, after: Part, inSandbox = false): boolean =>
  isReduced({ before: { ...KEY, ...before }, after: { ...KEY, ...before, ...after } }, NOW, inSandbox);

const LESS = { limits: { 'sms-per-hour': 99 } };
const MORE = { limits: { 'sms-per-hour': 101 } };

describe('a change', () => {
  itForAll<[string, Part, Part]>([
    ['takes a scope away', {}, { scopes: ['users:write'] }],
    ['takes a scope away and adds another', {}, { scopes: ['users:write', 'buyers:register'] }],
    ['moves to a smaller plan', { plan: 'professional' }, { plan: 'free' }],
    ['moves to a larger plan with a smaller limit of its own', {}, { plan: 'professional', ...LESS }],
    ['lowers a limit', {}, LESS],
    ['lowers one limit and raises another', {}, { limits: { ...LESS.limits, 'paid-checks-per-day': 5000 } }],
    ['ends a larger limit', MORE, { limits: {} }],
    ['lets the key end before the reach', {}, { expires_at: NOW + REACH - 1 }],
    ['lets the key end sooner', { expires_at: NOW + 300 }, { expires_at: NOW + 299 }],
    ['ends the newest secret at once', {}, { secrets: [secret('new', NOW), secret('old', NOW + 3600)] }],
    ['ends an older secret sooner', {}, { secrets: [secret('new'), secret('old', NOW + REACH - 1)] }],
    ['drops a valid secret', {}, { secrets: [secret('new')] }],
    [
      'ends a secret sooner and the key later',
      { expires_at: NOW + 60 },
      { expires_at: undefined, secrets: [secret('new', NOW + 59)] },
    ],
  ])('that %s is a reduction', (_title, before, after) => {
    expect(isReducedBy(before, after)).toBe(true);
  });

  itForAll<[string, Part, Part]>([
    ['changes nothing', {}, {}],
    ['gives another name', {}, { name: 'checkout' }],
    ['adds a scope', {}, { scopes: ['users:write', 'users:read', 'buyers:register'] }],
    ['moves to a larger plan', {}, { plan: 'professional' }],
    ['raises a limit', {}, MORE],
    ['ends a smaller limit', LESS, { limits: {} }],
    ['lets the key end at the reach', {}, { expires_at: NOW + REACH }],
    ['lets the key end later', { expires_at: NOW + 60 }, { expires_at: NOW + 61 }],
    ['ends a secret at the reach', {}, { secrets: [secret('new', NOW + REACH), secret('old', NOW + 3600)] }],
    [
      'drops a secret that has ended',
      { secrets: [secret('new'), secret('old', NOW)] },
      { secrets: [secret('new')] },
    ],
    [
      'ends the key sooner, but later than the only secret that ends',
      { secrets: [secret('old', NOW + 60)] },
      { expires_at: NOW + 120 },
    ],
  ])('that %s is no reduction', (_title, before, after) => {
    expect(isReducedBy(before, after)).toBe(false);
  });

  it('to a number below that of the sandbox is a reduction only where the registry is the sandbox', () => {
    const after = { limits: { 'failed-checks-per-hour': 20 } };
    expect([isReducedBy({}, after, true), isReducedBy({}, after, false)]).toEqual([true, false]);
  });
});
