import type { VerifyToken } from '#shared/access-tokens/verify.ts';
import type { OtpAccess } from '#shared/env.ts';
import { endpointStack, type Handle, type LambdaHandler } from '#shared/http/endpoint.ts';
import { callerIdentifier, type KeyedParts } from '#shared/http/keyed-endpoint.ts';
import { type Route, requiresKey } from '#shared/route.ts';

/** What counts the callers of a function under test. */
interface Counting extends Pick<KeyedParts, 'clock'> {
  readonly rateLimiter: Pick<KeyedParts['rateLimiter'], 'incrementAndRead'>;
  readonly otpAccess?: OtpAccess;
}

/** A handler in the real middy stack. It uses what its callers are counted with, and `deps`. */
export const keyedHandler = <R extends Route, Deps>(
  route: R,
  handle: Handle<R, Deps>,
  deps: Omit<Deps, keyof Counting> & Counting & { readonly verifyToken?: VerifyToken },
): LambdaHandler =>
  endpointStack(
    route,
    () => ({
      deps: deps as unknown as Deps,
      ...(requiresKey(route, deps.otpAccess ?? 'api-key')
        ? { identifyCaller: callerIdentifier(route, deps) }
        : {}),
    }),
    handle,
  );
