import { failureOf } from '#admin/cli/errors.ts';
import { refusal } from '#admin/refusal.ts';
import { serviceUnavailable } from '#shared/problems.ts';
import { itForAll } from '#test/for-all.ts';

const named = (name: string, message = 'x') => Object.assign(new Error(message), { name });

describe('failureOf', () => {
  itForAll([
    [named('CredentialsProviderError'), 'not_allowed'],
    [named('ExpiredTokenException'), 'not_allowed'],
    [named('AccessDeniedException'), 'not_allowed'],
    [named('TooManyRequestsException'), 'not_reachable'],
    [named('TimeoutError'), 'not_reachable'],
    [named('Error', 'connect ECONNREFUSED 127.0.0.1:1'), 'not_reachable'],
    [named('Error', 'Region is missing'), 'not_reachable'],
    [named('ResourceNotFoundException', 'Requested resource not found: Table: x'), 'not_reachable'],
    [refusal('key_revoked', 'key_1 is revoked.'), 'key_revoked'],
    [serviceUnavailable(new Error('busy')), 'not_reachable'],
    ['thrown text', 'unexpected'],
  ])('describes each kind of error by its code, in a sentence', (error, code) => {
    const failure = failureOf(error);
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^[A-Zk].*\.$/);
  });

  it('shows no key, phone or stack trace of an unexpected error', () => {
    const { message } = failureOf(new Error(`broke at blk_live_${'a'.repeat(38)} for 09121234567`));
    expect(message).toBe('Error: broke at [redacted] for [redacted]');
  });
});
