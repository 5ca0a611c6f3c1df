import { parseExternalId } from '#shared/users/external-id.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { itForAll } from '#test/for-all.ts';
import { isFullRun } from '#test/full-run.ts';
import { seededRandom } from '#test/hardening/random.ts';
import { refusedReferences } from './references.ts';

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
  ])('rejects a value that is a national id or a mobile number, with and without separators', (text) => {
    expect(parseExternalId(text)).toBeUndefined();
  });

  itForAll([
    'tel:09121234567',
    'customer:989121234567',
    'c-0912-123-4567',
    '09121234567_2',
    'a.00989121234567.b',
    'c:00-98-912-123-4567',
    'c:98.0.912.1234567',
    'c:9809121234567',
    'order:1234:0912.1234567',
    'c--0_9:1.2-1_2:3.4-5_6:7--d',
  ])('rejects a mobile number with its 0, 98 or 0098 between ends or separators', (text) => {
    expect(parseExternalId(text)).toBeUndefined();
  });

  itForAll([
    ['a national id behind a prefix', `order:${completeNationalId('999915082')}`],
    ['a number without its 0 behind a prefix', 'c:9121234567'],
    ['a number behind another digit', 'c:109121234567'],
    ['a number before another digit', 'c:091212345678'],
    ['a number behind a letter', 'c09121234567'],
    ['a number before a letter', '09121234567c'],
    ['a date and a number', 'order:20260912-1234567'],
    ['a UUID that holds a number', '5f0c7e1a-0912-1234-8567-a1b2c3d4e5f6'],
    ['a UUID that ends with a number', '5F0C7E1A-ABCD-4BCD-8BCD-989121234567'],
  ])('accepts what holds no such number, or is a UUID', (_case, text) => {
    expect(parseExternalId(text)).toBe(text);
  });

  it('accepts the references that shops make: a million of each kind in the full run', () => {
    expect(refusedReferences(isFullRun ? 1_000_000 : 2000, seededRandom(1).next)).toEqual([]);
  }, 120_000);
});
