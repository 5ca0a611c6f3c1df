import type { PolicyDocument } from 'aws-lambda';
import { allowsInvoke } from '#local/gateway/policy-evaluation.ts';

const ARN = 'arn:aws:execute-api:us-east-1:000000000000:local/local/GET/v1/users';
const STAGE = 'arn:aws:execute-api:us-east-1:000000000000:local/local';

const policy = (...statements: readonly [effect: string, resource: string | string[], action?: string][]) =>
  ({
    Version: '2012-10-17',
    Statement: statements.map(([Effect, Resource, Action = 'execute-api:Invoke']) => ({
      Effect,
      Action,
      Resource,
    })),
  }) as PolicyDocument;

describe('allowsInvoke', () => {
  it.each([
    ['the method itself', policy(['Allow', ARN])],
    ['one of several methods', policy(['Allow', [`${STAGE}/POST/v1/users`, ARN]])],
    ['a star over all methods', policy(['Allow', `${STAGE}/*`])],
    ['a star within', policy(['Allow', `${STAGE}/*/v1/users`])],
    ['a question mark for one character', policy(['Allow', `${STAGE}/GE?/v1/users`])],
    ['a star as the action', policy(['Allow', ARN, '*'])],
  ])('allows a method by %s', (_what, document) => {
    expect(allowsInvoke(document, ARN)).toBe(true);
  });

  it.each([
    ['nothing', policy()],
    ['an empty list', policy(['Allow', []])],
    ['another method', policy(['Allow', `${STAGE}/POST/v1/users`])],
    ['a path that only begins the same', policy(['Allow', `${STAGE}/GET/v1/user`])],
    ['a longer path', policy(['Allow', `${ARN}/1`])],
    ['another action', policy(['Allow', ARN, 's3:GetObject'])],
    ['an allow with a deny beside it', policy(['Allow', ARN], ['Deny', `${STAGE}/*`])],
    ['a deny alone', policy(['Deny', ARN])],
    ['a dot that is no wildcard', policy(['Allow', ARN.replace('/v1/', '.v1.')])],
  ])('denies a method by %s', (_what, document) => {
    expect(allowsInvoke(document, ARN)).toBe(false);
  });
});
