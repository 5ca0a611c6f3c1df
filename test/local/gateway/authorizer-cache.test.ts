import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { authorizerCache, CACHE_SECONDS } from '#local/gateway/authorizer-cache.ts';

const result = (principalId: string): APIGatewayAuthorizerResult => ({
  principalId,
  policyDocument: { Version: '2012-10-17', Statement: [] },
});

const setUp = () => {
  const time = { nowMs: 0 };
  const cache = authorizerCache(() => time.nowMs);
  let decisions = 0;
  const authorize = async () => {
    decisions += 1;
    return result(`decision ${decisions}`);
  };
  return { time, cache, authorize, decisions: () => decisions };
};

describe('authorizerCache', () => {
  it('calls the authorizer once per cache time', async () => {
    const { time, cache, authorize, decisions } = setUp();
    await cache.getOrAuthorize('key', 0, authorize);
    time.nowMs = CACHE_SECONDS * 1000 - 1;
    expect((await cache.getOrAuthorize('key', 0, authorize)).principalId).toBe('decision 1');
    time.nowMs += 1;
    expect((await cache.getOrAuthorize('key', 0, authorize)).principalId).toBe('decision 2');
    expect(decisions()).toBe(2);
  });

  it('caches each key by itself', async () => {
    const { cache, authorize, decisions } = setUp();
    await cache.getOrAuthorize('one', 0, authorize);
    await cache.getOrAuthorize('other', 0, authorize);
    expect(decisions()).toBe(2);
  });

  it('does not cache an error', async () => {
    const { cache, authorize } = setUp();
    await expect(
      cache.getOrAuthorize('key', 0, () => Promise.reject(new Error('Unauthorized'))),
    ).rejects.toThrow();
    expect((await cache.getOrAuthorize('key', 0, authorize)).principalId).toBe('decision 1');
  });

  it('uses no decision from before a flush', async () => {
    const { cache, authorize, decisions } = setUp();
    await cache.getOrAuthorize('key', 0, authorize);
    await cache.getOrAuthorize('key', 1, authorize);
    await cache.getOrAuthorize('key', 1, authorize);
    expect(decisions()).toBe(2);
  });

  it('uses no decision that was in progress during a flush', async () => {
    const { cache, authorize } = setUp();
    const { promise, resolve } = Promise.withResolvers<APIGatewayAuthorizerResult>();
    const early = cache.getOrAuthorize('key', 0, () => promise);
    await cache.getOrAuthorize('key', 1, authorize);
    resolve(result('old'));
    expect((await early).principalId).toBe('old');
    expect((await cache.getOrAuthorize('key', 1, authorize)).principalId).toBe('decision 2');
  });
});
