/** The canary: asks for the public keys as a stranger would. It fails if it gets none, and its alarm counts its failures. */

const PATIENCE_MS = 10_000;

/** Throws unless the service publishes at least one key. */
export const probe = async (baseUrl: string, ask: typeof fetch = fetch): Promise<void> => {
  const response = await ask(`${baseUrl}/.well-known/jwks.json`, {
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (!response.ok) throw new Error(`the public keys answered ${response.status}`);
  const { keys } = (await response.json()) as { readonly keys?: readonly unknown[] };
  if (!keys?.length) throw new Error('no public key is published');
};

/** Run by a schedule. Its one variable is its own: it is no part of the service. */
export const handler = (): Promise<void> => probe(process.env.BASE_URL ?? '');
