/** Apart from endpoint.ts, so that the bundle of a public row holds no database client. */
import type { VerifyToken } from '#shared/access-tokens/verify.ts';
import { callerFrom } from '#shared/api-keys/caller.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { type OtpAccess, readEnv } from '#shared/env.ts';
import { type RateLimiter, rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { countRequest } from '#shared/rate-limits/request-limits.ts';
import { type Route, requiresKey } from '#shared/route.ts';
import { type Table, tableFromEnv } from '#shared/table/client.ts';
import { endpointStack, type Handle, type LambdaHandler } from './endpoint.ts';
import { currentScope, headerOf } from './request.ts';

export interface KeyedParts {
  readonly table: Table;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
}

interface KeyedService<Deps> {
  readonly deps: Deps;
  readonly rateLimiter: Pick<RateLimiter, 'incrementAndRead'>;
  readonly clock: Clock;
  /** `public`: an otp row is served without a caller. */
  readonly otpAccess: OtpAccess;
  /** Given on a row for buyers: verifies its access token before the input is parsed. */
  readonly verifyToken?: VerifyToken;
}

/** The count of a request runs beside its reads. */
export const keyedStack = <R extends Route, Deps>(
  route: R,
  open: () => KeyedService<Deps>,
  handle: Handle<R, Deps>,
): LambdaHandler =>
  endpointStack(
    route,
    () => {
      const { deps, rateLimiter, clock, otpAccess, verifyToken } = open();
      if (!requiresKey(route, otpAccess)) return { deps };
      const limitsToRead = route.limitsRead ?? [];
      return {
        deps,
        async identifyCaller(event) {
          const scope = currentScope();
          const nowMs = clock();
          scope.caller = callerFrom(event.requestContext.authorizer, nowMs);
          scope.planLimit = countRequest(rateLimiter, scope.caller, { nowMs, limitsToRead });
          if (route.access.by !== 'buyer') return;
          if (verifyToken === undefined) throw new Error(`${route.name} verifies no access token`);
          await scope.planLimit.withinPlan;
          scope.buyer = await verifyToken(headerOf(event, 'authorization'), scope.caller.sellerId);
        },
      };
    },
    handle,
  );

export const partsFromEnv = (): KeyedParts => {
  const table = tableFromEnv();
  return { table, rateLimiter: rateLimiterFromEnv(table), clock: systemClock };
};

export const keyedEndpoint = <R extends Route, Deps>(
  route: R,
  build: (parts: KeyedParts) => Deps,
  handle: Handle<R, Deps>,
): LambdaHandler =>
  keyedStack(
    route,
    () => {
      const parts = partsFromEnv();
      const otpAccess = route.access.by === 'otp' ? readEnv(['OTP_ACCESS']).OTP_ACCESS : 'api-key';
      return { ...parts, otpAccess, deps: build(parts) };
    },
    handle,
  );
