import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import { authorizerCache, CACHE_SECONDS } from '#local/gateway/authorizer-cache.ts';

const result = (principalId: string): APIGatewayAuthorizerResult => ({
  principalId,
  policyDocument: { Version: '2012-10-17', Statement: [] },
});

const setUp = () => {
  const time = { nowMs: 0 };
  const cache = authorizerCache(() => time.nowMs);
  let judged = 0;
  const judge = async () => {
    judged += 1;
    return result(`judgement ${judged}`);
  };
  return { time, cache, judge, judged: () => judged };
};

describe('authorizerCache', () => {
  it('asks the authorizer once for as long as it keeps the result', async () => {
    const { time, cache, judge, judged } = setUp();
    await cache.getOrAuthorize('key', judge);
    time.nowMs = CACHE_SECONDS * 1000 - 1;
    expect((await cache.getOrAuthorize('key', judge)).principalId).toBe('judgement 1');
    time.nowMs += 1;
    expect((await cache.getOrAuthorize('key', judge)).principalId).toBe('judgement 2');
    expect(judged()).toBe(2);
  });

  it('keeps each key by itself', async () => {
    const { cache, judge, judged } = setUp();
    await cache.getOrAuthorize('one', judge);
    await cache.getOrAuthorize('other', judge);
    expect(judged()).toBe(2);
  });

  it('does not keep what was thrown', async () => {
    const { cache, judge } = setUp();
    await expect(
      cache.getOrAuthorize('key', () => Promise.reject(new Error('Unauthorized'))),
    ).rejects.toThrow();
    expect((await cache.getOrAuthorize('key', judge)).principalId).toBe('judgement 1');
  });

  it('forgets everything at a flush', async () => {
    const { cache, judge, judged } = setUp();
    await cache.getOrAuthorize('key', judge);
    cache.flush();
    await cache.getOrAuthorize('key', judge);
    expect(judged()).toBe(2);
  });

  it('does not keep a judgement that was under way when the cache was flushed', async () => {
    const { cache, judge } = setUp();
    const { promise, resolve } = Promise.withResolvers<APIGatewayAuthorizerResult>();
    const early = cache.getOrAuthorize('key', () => promise);
    cache.flush();
    resolve(result('old'));
    expect((await early).principalId).toBe('old');
    expect((await cache.getOrAuthorize('key', judge)).principalId).toBe('judgement 1');
  });
});
