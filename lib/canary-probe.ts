/** The canary function: requests the public keys over the public URL. An alarm counts the runs that fail. */

const TIMEOUT_MS = 10_000;

/** Requests the public keys. Throws on a timeout, an error status or an empty key set. */
export const probe = async (baseUrl: string, request: typeof fetch = fetch): Promise<void> => {
  const response = await request(`${baseUrl}/.well-known/jwks.json`, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (!response.ok) throw new Error(`the public keys returned ${response.status}`);
  const { keys } = (await response.json()) as { readonly keys?: readonly unknown[] };
  if (!keys?.length) throw new Error('no public key is published');
};

/** Runs on a schedule. Reads BASE_URL itself: shared/env.ts covers the functions of the service only. */
export const handler = (): Promise<void> => probe(process.env.BASE_URL ?? '');
