import { describe, expect, test } from '@jest/globals';
import { callerFrom } from '#shared/http/caller.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const context = { sellerId: 'sel_1', keyId: 'key_1', plan: 'free', scopes: 'users:read users:write' };
const caller = { sellerId: 'sel_1', keyId: 'key_1', plan: 'free', scopes: ['users:read', 'users:write'] };

describe('the caller of a request', () => {
  test('is who the authorizer says, without what API Gateway adds', () => {
    const event = { ...context, expiresAt: '', principalId: 'key_1', integrationLatency: 12 };
    expect(callerFrom(event, NOW)).toEqual(caller);
  });

  test('has a key without an end, whether API Gateway hands the empty value on or leaves it out', () => {
    expect(callerFrom({ ...context, expiresAt: '' }, NOW)).toEqual(caller);
    expect(callerFrom(context, NOW)).toEqual(caller);
  });

  test('is refused from the second on in which its key ends', () => {
    expect(callerFrom({ ...context, expiresAt: String(NOW / 1000 + 1) }, NOW)).toEqual(caller);
    expect(() => callerFrom({ ...context, expiresAt: String(NOW / 1000) }, NOW)).toThrow('invalid_api_key');
  });

  test.each([undefined, null, {}, { ...context, sellerId: undefined }, { ...context, plan: 'gold' }])(
    'is nobody without a whole answer of the authorizer: %j',
    (authorizer) => {
      expect(() => callerFrom(authorizer, NOW)).toThrow();
    },
  );
});
