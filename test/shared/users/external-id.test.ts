import { parseExternalId } from '#shared/users/external-id.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { itForAll } from '#test/for-all.ts';

describe('parseExternalId', () => {
  itForAll([
    '1',
    'order:1234567890',
    'A-b_c.d:9',
    'x'.repeat(64),
    '1234567890',
    '123',
    '02112345678',
    '8121234567',
    'o9121234567',
  ])('accepts every allowed character and length as it is', (text) => {
    expect(parseExternalId(text)).toBe(text);
  });

  itForAll(['', 'x'.repeat(65), 'a b', 'a/b', 'a#b', 'é', '۱۲۳', 'a\n', '+1', 'a%20b'])(
    'rejects every other character and length',
    (text) => {
      expect(parseExternalId(text)).toBeUndefined();
    },
  );

  itForAll([
    completeNationalId('999915082'),
    '09121234567',
    '0912-123-4567',
    '989121234567',
    '98-912-123-4567',
    '00989121234567',
    '9809121234567',
    '0098:0912:1234567',
    '9121234567',
    '912.123.45.67',
    '0_912:1234567',
    '::09121234567--',
    '999-915082-9',
    '9.9.9.9.1.5.0.8.2.9',
  ])('rejects a national id and a mobile number, with and without separators', (text) => {
    expect(parseExternalId(text)).toBeUndefined();
  });

  it('accepts a national id or a mobile number with a prefix', () => {
    expect(parseExternalId(`order:${completeNationalId('999915082')}`)).toBeDefined();
    expect(parseExternalId('order:09121234567')).toBeDefined();
  });
});
