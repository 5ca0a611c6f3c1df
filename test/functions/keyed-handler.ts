import type { OtpAccess } from '#shared/env.ts';
import type { Handle, LambdaHandler } from '#shared/http/endpoint.ts';
import { type KeyedParts, keyedStack } from '#shared/http/keyed-endpoint.ts';
import type { Route } from '#shared/route.ts';

/** What counts the callers of a function under test. */
interface Counting extends Pick<KeyedParts, 'clock'> {
  readonly rateLimiter: Pick<KeyedParts['rateLimiter'], 'incrementAndRead'>;
  readonly otpAccess?: OtpAccess;
}

/** A handler in the real middy stack. It uses what its callers are counted with, and `deps`. */
export const keyedHandler = <R extends Route, Deps>(
  route: R,
  handle: Handle<R, Deps>,
  deps: Omit<Deps, keyof Counting> & Counting,
): LambdaHandler =>
  keyedStack(route, () => ({ otpAccess: 'api-key', ...deps, deps: deps as unknown as Deps }), handle);
