import { mock } from 'node:test';
import type { APIGatewayRequestAuthorizerEvent } from 'aws-lambda';
import { authorize, type build } from '#functions/authorizer.ts';
import type { KeySecret } from '#shared/api-keys/api-key-item.ts';
import { newApiKey } from '#shared/api-keys/secret.ts';
import { redirectLog } from '#shared/log.ts';
import { currentRequest } from '#shared/request-context.ts';

type Deps = ReturnType<typeof build>;

let restoreLog: () => void;
let lines: string[];
beforeEach(() => {
  lines = [];
  restoreLog = redirectLog((line) => lines.push(line));
});
afterEach(() => restoreLog());

const eventWith = (key: string) =>
  ({
    headers: { 'x-api-key': key },
    methodArn: 'arn:aws:execute-api:eu-central-1:000000000000:api/test/GET/v1/users',
    requestContext: { requestId: 'chosen', extendedRequestId: 'req-1' },
  }) as unknown as APIGatewayRequestAuthorizerEvent;

const NOW = Date.parse('2026-11-21T10:00:00Z');
const SECRET: KeySecret = {
  seller_id: 'sel_1',
  key_id: 'key_1',
  scopes: ['users:read'],
  plan: 'free',
  usage_id: 'u'.repeat(40),
  status: 'active',
  seller_status: 'active',
  number: 1,
};

/** The authorizer over one stored secret, or over a store that throws. */
const authorizing = (found: KeySecret | undefined | Error, key = newApiKey('blk_test_')) => {
  const deps: Deps = {
    secrets: {
      findSecret: async () => {
        if (found instanceof Error) throw found;
        return found;
      },
    },
    keyPrefix: 'blk_test_',
    clock: () => NOW,
  };
  return authorize(eventWith(key), deps);
};

const outcome = (): string => JSON.parse(String(lines.at(-1))).outcome;

describe('the decision on a key', () => {
  it('allows a valid key and returns its caller, its usage plan key and its plan', async () => {
    const result = await authorizing({ ...SECRET, limits: { 'sms-per-hour': 5 } });
    expect(result.usageIdentifierKey).toBe(SECRET.usage_id);
    expect(result.context).toMatchObject({
      sellerId: 'sel_1',
      keyId: 'key_1',
      plan: 'free',
      scopes: 'users:read',
      expiresAt: '',
      limits: '{"sms-per-hour":5}',
      secretNumber: '1',
      rateLimit: '"free";r=0;t=60',
      rateLimitPolicy: '"free";q=100;w=60',
    });
    expect(outcome()).toBe('allowed');
  });

  it.each([
    ['unknown', undefined, 'unknown'],
    ['revoked', { ...SECRET, status: 'revoked' }, 'unusable'],
    ['of a suspended seller', { ...SECRET, seller_status: 'suspended' }, 'unusable'],
    ['expired in this second', { ...SECRET, expires_at: NOW / 1000 }, 'unusable'],
  ] as const)('throws Unauthorized when the key is %s', async (_case, found, expected) => {
    await expect(authorizing(found as KeySecret | undefined)).rejects.toThrow(new Error('Unauthorized'));
    expect(outcome()).toBe(expected);
  });

  it('allows a key until the second before it expires', async () => {
    expect((await authorizing({ ...SECRET, expires_at: NOW / 1000 + 1 })).principalId).toBe('key_1');
  });

  it.each([
    ['missing', ''],
    ['of another stage', newApiKey('blk_live_')],
    ['mistyped', `${newApiKey('blk_test_').slice(0, -1)}!`],
    ['without its checksum', newApiKey('blk_test_').slice(0, -6)],
  ])('throws Unauthorized without a read when the key is %s', async (_case, key) => {
    await expect(authorizing(new Error('no read was expected'), key)).rejects.toThrow(
      new Error('Unauthorized'),
    );
    expect(outcome()).toBe('malformed');
  });

  it('throws the database error, not Unauthorized, when the read fails, and logs it', async () => {
    await expect(authorizing(new Error('throttled'))).rejects.toThrow('throttled');
    expect(JSON.parse(String(lines.at(-1)))).toMatchObject({
      event: 'request_failed',
      operation: 'authorizer',
      request_id: 'req-1',
    });
  });

  it('counts a decision that the table gave no answer for as unavailable, and no other failure', async () => {
    const throttled = Object.assign(new Error('slow down'), { name: 'ThrottlingException' });
    await expect(authorizing(throttled)).rejects.toThrow('slow down');
    await expect(authorizing(new Error('no grant'))).rejects.toThrow('no grant');
    const counted = lines.map((line) => JSON.parse(line)).filter(({ event }) => event === 'key_checked');
    expect(counted).toMatchObject([{ outcome: 'unavailable', KeysChecked: 1 }]);
  });

  it('aborts a read that hangs at the deadline, and does not throw Unauthorized', async () => {
    const deps: Deps = {
      secrets: {
        findSecret: () =>
          new Promise((_resolve, reject) => {
            currentRequest()?.deadline.signal.addEventListener('abort', () => reject(new Error('aborted')));
          }),
      },
      keyPrefix: 'blk_test_',
      clock: () => NOW,
    };
    await expect(authorize(eventWith(newApiKey('blk_test_')), deps, 10)).rejects.toThrow('aborted');
  });

  it('has a deadline of 3 s, which leaves the function 2 s to answer', async () => {
    const timeout = mock.method(AbortSignal, 'timeout');
    await authorizing(SECRET);
    expect(timeout.mock.calls.map((call) => call.arguments)).toEqual([[3000]]);
    timeout.mock.restore();
  });

  it('logs no part of the key', async () => {
    const key = newApiKey('blk_test_');
    await authorizing(SECRET, key);
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toContain(key.slice(9, 20));
  });
});
