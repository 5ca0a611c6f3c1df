import { refusal } from '#admin/operations/refusal.ts';
import { failureOf } from '#bin/admin/errors.ts';

const named = (name: string, message = 'x') => Object.assign(new Error(message), { name });

it.each([
  [named('CredentialsProviderError'), 'not_allowed'],
  [named('ExpiredTokenException'), 'not_allowed'],
  [named('AccessDeniedException'), 'not_allowed'],
  [named('TooManyRequestsException'), 'not_reachable'],
  [named('TimeoutError'), 'not_reachable'],
  [named('Error', 'connect ECONNREFUSED 127.0.0.1:1'), 'not_reachable'],
  [named('Error', 'Region is missing'), 'not_reachable'],
  [refusal('key_revoked', 'key_1 is revoked.'), 'key_revoked'],
  ['thrown text', 'unexpected'],
])('%s becomes %s, in a sentence', (error, code) => {
  const failure = failureOf(error);
  expect(failure.code).toBe(code);
  expect(failure.message).toMatch(/^[A-Zk].*\.$/);
});

it('shows no key, phone or stack of an error that nobody expected', () => {
  const { message } = failureOf(new Error(`broke at blk_live_${'a'.repeat(38)} for 09121234567`));
  expect(message).toBe('Error: broke at [redacted] for [redacted]');
});
