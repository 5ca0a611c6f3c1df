import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';

/** As long as the deployed authorizer's results are kept: the longest that a key's change can go unnoticed without a flush. */
export const CACHE_SECONDS = 300;

/** The results of an authorizer, by the value of its identity source. What it throws is not kept. */
export const authorizerCache = (clock: Clock, ttlSeconds = CACHE_SECONDS) => {
  const kept = new Map<string, { readonly result: APIGatewayAuthorizerResult; readonly untilMs: number }>();
  let generation = 0;
  return {
    async getOrAuthorize(
      identity: string,
      judge: () => Promise<APIGatewayAuthorizerResult>,
    ): Promise<APIGatewayAuthorizerResult> {
      const found = kept.get(identity);
      if (found !== undefined && found.untilMs > clock()) return found.result;
      kept.delete(identity);
      const asked = generation;
      const result = await judge();
      // A judgement that was under way when the cache was flushed may be what the flush was to forget.
      if (asked === generation) kept.set(identity, { result, untilMs: clock() + ttlSeconds * 1000 });
      return result;
    },
    /** Forgets every result: API Gateway cannot forget one. */
    flush(): void {
      generation += 1;
      kept.clear();
    },
  };
};

export type AuthorizerCache = ReturnType<typeof authorizerCache>;
