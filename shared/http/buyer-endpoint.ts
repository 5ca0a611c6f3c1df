/** Apart from keyed-endpoint.ts, so that other bundles hold no KMS client. */
import { tokenVerifierFromEnv } from '#shared/access-tokens/verify.ts';
import type { Route } from '#shared/route.ts';
import type { Handle, LambdaHandler } from './endpoint.ts';
import { type KeyedParts, keyedEndpoint } from './keyed-endpoint.ts';

export const buyerEndpoint = <R extends Route & { readonly access: { readonly by: 'buyer' } }, Deps>(
  route: R,
  build: (parts: KeyedParts) => Deps,
  handle: Handle<R, Deps>,
): LambdaHandler => keyedEndpoint(route, build, handle, tokenVerifierFromEnv);
