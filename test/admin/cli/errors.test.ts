import { AdminError } from '#admin/admin-error.ts';
import { failureOf } from '#admin/cli/errors.ts';
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
    [new AdminError('key_revoked', 'key_1 is revoked.'), 'key_revoked'],
    [serviceUnavailable(new Error('busy')), 'not_reachable'],
    ['thrown text', 'unexpected'],
  ])('describes each kind of error by its code, in a sentence', (error, code) => {
    const failure = failureOf(error);
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(/^[A-Zk].*\.$/);
  });

  it("says AWS's reason, and what to do", () => {
    const denied =
      'User: arn:aws:iam::111122223333:user/sara is not authorized to perform: dynamodb:Query on x';
    const lost = { code: 'ENOTFOUND', hostname: 'sts.eu-centrl-1.amazonaws.com' };
    expect(
      [
        named('UnrecognizedClientException'),
        named('ExpiredToken'),
        named('AccessDeniedException', denied),
        Object.assign(new Error('getaddrinfo ENOTFOUND sts.eu-centrl-1.amazonaws.com'), lost),
        Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
        new Error('Region is missing'),
      ].map((error) => failureOf(error).message),
    ).toEqual([
      'AWS does not accept these credentials (UnrecognizedClientException). Sign in again, or name another profile with --profile.',
      'The AWS session has expired (ExpiredToken). Sign in again.',
      'These AWS credentials do not allow this command (AccessDeniedException: dynamodb:Query). docs/operators/admin.md lists what it needs.',
      'An address is unknown (ENOTFOUND: sts.eu-centrl-1.amazonaws.com). Check the Region, and the connection of this machine.',
      'The deployment does not respond (ECONNREFUSED). Try again. The local service runs while npm start does.',
      'No AWS Region is set. Name one: --region eu-central-1.',
    ]);
  });

  it('shows no key, phone or stack trace of an unexpected error', () => {
    const { message } = failureOf(new Error(`broke at blk_live_${'a'.repeat(38)} for 09121234567`));
    expect(message).toBe('Error: broke at [redacted] for [redacted]');
  });
});
