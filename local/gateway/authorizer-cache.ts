import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';

/** The cache time of the deployed authorizer: without a flush, a changed key goes unnoticed for at most this long. */
export const CACHE_SECONDS = 300;

/** The decisions of the authorizer by API key. Errors are not cached. */
export const authorizerCache = (clock: Clock) => {
  const cached = new Map<string, { result: APIGatewayAuthorizerResult; flushes: number; untilMs: number }>();
  return {
    /** `flushes`: how often the cache was flushed before this request. A decision from before the last flush is not used. */
    async getOrAuthorize(
      key: string,
      flushes: number,
      authorize: () => Promise<APIGatewayAuthorizerResult>,
    ): Promise<APIGatewayAuthorizerResult> {
      const found = cached.get(key);
      if (found !== undefined && found.flushes >= flushes && found.untilMs > clock()) return found.result;
      const result = await authorize();
      cached.set(key, { result, flushes, untilMs: clock() + CACHE_SECONDS * 1000 });
      return result;
    },
  };
};
