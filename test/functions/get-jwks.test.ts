import { handle } from '#functions/get-jwks.ts';
import type { TokenSigner } from '#shared/access-tokens/signer.ts';
import { routes } from '#shared/routes.ts';
import { functionUnderTest } from './harness.ts';

const key = {
  kty: 'EC',
  crv: 'P-256',
  x: 'x-coordinate',
  y: 'y-coordinate',
  kid: 'thumbprint',
  alg: 'ES256',
  use: 'sig',
} as const;

const getJwks = (publicKeys: TokenSigner['publicKeys']) =>
  functionUnderTest(routes['get-jwks'], handle, undefined as never, { publicKeys });

describe('200', () => {
  it('returns the public keys, cacheable for five minutes', async () => {
    const { call } = getJwks(async () => ({ keys: [key] }));
    const { status, json, headers } = await call({ authorizer: null });
    expect([status, json, headers['Cache-Control']]).toEqual([200, { keys: [key] }, 'public, max-age=300']);
  });

  it('never returns a private part of a key', async () => {
    const leaky = { keys: [{ ...key, d: 'private' }] };
    const { json } = await getJwks(async () => leaky).call({ authorizer: null });
    expect(JSON.stringify(json)).not.toContain('private');
  });
});
