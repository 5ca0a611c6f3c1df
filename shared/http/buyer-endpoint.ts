/** Apart from keyed-endpoint.ts, so that other bundles hold no KMS client. */
import { tokenVerifierFromEnv } from '#shared/access-tokens/verify.ts';
import type { Route } from '#shared/route.ts';
import type { Handle, LambdaHandler } from './endpoint.ts';
import { type KeyedParts, keyedStack, partsFromEnv } from './keyed-endpoint.ts';

export const buyerEndpoint = <R extends Route & { readonly access: { readonly by: 'buyer' } }, Deps>(
  route: R,
  build: (parts: KeyedParts) => Deps,
  handle: Handle<R, Deps>,
): LambdaHandler =>
  keyedStack(
    route,
    () => {
      const parts = partsFromEnv();
      const verifyToken = tokenVerifierFromEnv(parts.clock);
      return { ...parts, verifyToken, otpAccess: 'api-key', deps: build(parts) };
    },
    handle,
  );
