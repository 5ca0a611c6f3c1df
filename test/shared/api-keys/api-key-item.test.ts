import * as v from 'valibot';
import { isUsable, type KeySecret, keySecretSchema } from '#shared/api-keys/api-key-item.ts';

const NOW_MS = Date.parse('2026-11-21T08:00:00Z');
const NOW_SECONDS = NOW_MS / 1000;

const secret: KeySecret = {
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: ['users:read'],
  plan: 'free',
  usage_id: 'usage-1',
  status: 'active',
  seller_status: 'active',
  number: 1,
};

describe('isUsable', () => {
  it('is true for an active secret of an active seller without an expiry', () => {
    expect(isUsable(secret, NOW_MS)).toBe(true);
  });

  it.each([[{ status: 'revoked' }], [{ seller_status: 'suspended' }]] as const)(
    'is false with %j',
    (change) => {
      expect(isUsable({ ...secret, ...change }, NOW_MS)).toBe(false);
    },
  );

  it('ends in the millisecond in which the second of the expiry begins', () => {
    const expiring = { ...secret, expires_at: NOW_SECONDS };
    expect([NOW_MS - 1, NOW_MS, NOW_MS + 1].map((nowMs) => isUsable(expiring, nowMs))).toEqual([
      true,
      false,
      false,
    ]);
  });
});

describe('keySecretSchema', () => {
  it('accepts an item with every attribute, and drops those that it does not name', () => {
    const full = {
      ...secret,
      expires_at: NOW_SECONDS,
      limits: { 'sms-per-hour': 0 },
    };
    expect(v.parse(keySecretSchema, { ...full, pk: 'SECRET#x', sk: 'SECRET' })).toEqual(full);
  });

  it.each([
    [{ plan: 1 }],
    [{ scopes: ['users:read', 1] }],
    [{ status: 'pending' }],
    [{ seller_status: 'closed' }],
    [{ expires_at: '1795000000' }],
    [{ limits: { 'sms-per-hour': -1 } }],
    [{ limits: { 'sms-per-hour': 0.5 } }],
    [{ usage_id: undefined }],
  ])('rejects an item with %j, so that the authorizer refuses its key', (change) => {
    expect(v.is(keySecretSchema, { ...secret, ...change })).toBe(false);
  });
});
