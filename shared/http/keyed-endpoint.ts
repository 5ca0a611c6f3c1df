/** Apart from endpoint.ts, so that the bundle of a public row holds no database client. */
import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { VerifyToken } from '#shared/access-tokens/verify.ts';
import { callerFrom, soonExpiry } from '#shared/api-keys/caller.ts';
import { type Clock, systemClock } from '#shared/clock.ts';
import { readEnv } from '#shared/env.ts';
import { isSandbox } from '#shared/providers/sandbox.ts';
import { type RateLimiter, rateLimiterFromEnv } from '#shared/rate-limits/rate-limiter.ts';
import { countRequest } from '#shared/rate-limits/request-limits.ts';
import { type Route, requiresKey } from '#shared/route.ts';
import { type Table, tableFromEnv } from '#shared/table/client.ts';
import { endpointStack, type Handle, type LambdaHandler } from './endpoint.ts';
import { headerOf, type RequestScope } from './request.ts';

export interface KeyedParts {
  readonly table: Table;
  readonly rateLimiter: RateLimiter;
  readonly clock: Clock;
}

interface CallerParts {
  readonly rateLimiter: Pick<RateLimiter, 'incrementAndRead'>;
  readonly clock: Clock;
  /** Given on a row for buyers: verifies its access token before the input is parsed. */
  readonly verifyToken?: VerifyToken | undefined;
  /** Whether the identity registry is the sandbox, where the limits of a key on its verdicts are higher. */
  readonly registryIsSandbox?: boolean;
}

const isRegistrySandbox = ({ permissions }: Route): boolean =>
  (permissions.identityRegistry ?? permissions.identityProviders ?? false) &&
  isSandbox(readEnv(['IDENTITY_PROVIDERS']).IDENTITY_PROVIDERS);

/** A GET is counted while it reads; if it is over the limit, what it read is discarded. One that shows limits is counted before it reads them. */
const isCountedBeside = ({ method, limitsRead }: Route): boolean =>
  method === 'GET' && limitsRead === undefined;

/** Sets the caller of a request and counts it: a GET beside its handler, anything else first. Then verifies its buyer. */
export const callerIdentifier =
  (route: Route, { rateLimiter, clock, verifyToken, registryIsSandbox = false }: CallerParts) =>
  async (event: APIGatewayProxyEvent, scope: RequestScope): Promise<void> => {
    const nowMs = clock();
    scope.caller = { ...callerFrom(event.requestContext.authorizer, nowMs), registryIsSandbox };
    scope.keyExpiresSoonAt = soonExpiry(scope.caller, nowMs);
    const limitsToRead = route.limitsRead ?? [];
    const counting = countRequest(rateLimiter, scope.caller, { nowMs, limitsToRead });
    if (isCountedBeside(route)) {
      scope.counting = counting;
      // The endpoint awaits it after the handler. Until then a rejection would be unhandled, which ends the process.
      counting.catch(() => {});
    } else {
      scope.counted = await counting;
    }
    if (route.access.by !== 'buyer') return;
    if (verifyToken === undefined) throw new Error(`${route.name} verifies no access token`);
    scope.buyer = await verifyToken(headerOf(event, 'authorization'), scope.caller.sellerId);
  };

/** An otp row is served without a caller if OTP_ACCESS is `public`. */
export const keyedEndpoint = <R extends Route, Deps>(
  route: R,
  build: (parts: KeyedParts) => Deps,
  handle: Handle<R, Deps>,
  verifierFor?: (clock: Clock) => VerifyToken,
): LambdaHandler =>
  endpointStack(
    route,
    () => {
      const table = tableFromEnv();
      const parts = { table, rateLimiter: rateLimiterFromEnv(table), clock: systemClock };
      const deps = build(parts);
      const otpAccess = route.access.by === 'otp' ? readEnv(['OTP_ACCESS']).OTP_ACCESS : 'api-key';
      if (!requiresKey(route, otpAccess)) return { deps };
      const verifyToken = verifierFor?.(systemClock);
      const registryIsSandbox = isRegistrySandbox(route);
      return { deps, identifyCaller: callerIdentifier(route, { ...parts, verifyToken, registryIsSandbox }) };
    },
    handle,
  );
