import { callerFrom } from '#shared/api-keys/caller.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');
const context = { sellerId: 'sel_1', keyId: 'key_1', plan: 'free', scopes: 'users:read users:write' };
const caller = {
  sellerId: 'sel_1',
  keyId: 'key_1',
  plan: 'free',
  scopes: ['users:read', 'users:write'],
  limits: {},
  expiresAt: undefined,
};

describe('the caller of a request', () => {
  test('has the fields of the authorizer context and none that API Gateway adds', () => {
    const event = { ...context, expiresAt: '', principalId: 'key_1', integrationLatency: 12 };
    expect(callerFrom(event, NOW)).toEqual(caller);
  });

  test('has a key that does not expire, whether API Gateway passes the empty value on or leaves it out', () => {
    expect(callerFrom({ ...context, expiresAt: '' }, NOW)).toEqual(caller);
    expect(callerFrom(context, NOW)).toEqual(caller);
  });

  test('is rejected with invalid_api_key from the second in which its key expires', () => {
    const expiresAt = NOW / 1000 + 1;
    expect(callerFrom({ ...context, expiresAt: String(expiresAt) }, NOW)).toEqual({ ...caller, expiresAt });
    expect(() => callerFrom({ ...context, expiresAt: String(NOW / 1000) }, NOW)).toThrow('invalid_api_key');
  });

  test('has no scopes if its key has none', () => {
    expect(callerFrom({ ...context, scopes: '' }, NOW).scopes).toEqual([]);
  });

  test('has the limit overrides of the authorizer context', () => {
    const limits = JSON.stringify({ 'sms-per-hour': 10_000 });
    expect(callerFrom({ ...context, limits }, NOW).limits).toEqual({ 'sms-per-hour': 10_000 });
  });

  test.each([undefined, null, {}, { ...context, sellerId: undefined }, { ...context, plan: 'gold' }])(
    'throws without a complete authorizer context: %j',
    (authorizer) => {
      expect(() => callerFrom(authorizer, NOW)).toThrow();
    },
  );
});
