import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';

/** The cache time of the deployed authorizer: without a flush, a changed key goes unnoticed for at most this long. */
export const CACHE_SECONDS = 300;

/** The decisions of the authorizer by API key. Errors are not cached. */
export const authorizerCache = (clock: Clock) => {
  let cached = new Map<string, { readonly result: APIGatewayAuthorizerResult; readonly untilMs: number }>();
  return {
    async getOrAuthorize(
      key: string,
      authorize: () => Promise<APIGatewayAuthorizerResult>,
    ): Promise<APIGatewayAuthorizerResult> {
      const found = cached.get(key);
      if (found !== undefined && found.untilMs > clock()) return found.result;
      // A flush replaces the map: a decision that was in progress then may be the outdated one, and is not kept.
      const current = cached;
      const result = await authorize();
      current.set(key, { result, untilMs: clock() + CACHE_SECONDS * 1000 });
      return result;
    },
    /** Removes every decision: API Gateway cannot remove a single one. */
    flush(): void {
      cached = new Map();
    },
  };
};
