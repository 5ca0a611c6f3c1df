import type { APIGatewayAuthorizerResult } from 'aws-lambda';
import type { Clock } from '#shared/clock.ts';

/** The cache time of the deployed authorizer: without a flush, a changed key goes unnoticed for at most this long. */
export const CACHE_SECONDS = 300;

/** The decisions of an authorizer by its identity source. Errors are not cached. */
export const authorizerCache = (clock: Clock, ttlSeconds = CACHE_SECONDS) => {
  const cached = new Map<string, { readonly result: APIGatewayAuthorizerResult; readonly untilMs: number }>();
  let flushes = 0;
  return {
    async getOrAuthorize(
      identity: string,
      authorize: () => Promise<APIGatewayAuthorizerResult>,
    ): Promise<APIGatewayAuthorizerResult> {
      const found = cached.get(identity);
      if (found !== undefined && found.untilMs > clock()) return found.result;
      cached.delete(identity);
      const flushesBefore = flushes;
      const result = await authorize();
      // A decision that was in progress during a flush may be the outdated one.
      if (flushesBefore === flushes) cached.set(identity, { result, untilMs: clock() + ttlSeconds * 1000 });
      return result;
    },
    /** Removes every decision: API Gateway cannot remove a single one. */
    flush(): void {
      flushes += 1;
      cached.clear();
    },
  };
};

export type AuthorizerCache = ReturnType<typeof authorizerCache>;
