import { handle } from '#functions/get-openid-configuration.ts';
import { routes } from '#shared/routes.ts';
import { functionUnderTest } from './harness.ts';

const { call } = functionUnderTest(routes['get-openid-configuration'], handle, undefined as never, {
  tokenIssuer: 'https://issuer.example',
});

describe('200', () => {
  it('returns the issuer and the URL of its keys without a key, cacheable for five minutes', async () => {
    const { status, json, headers } = await call({ authorizer: null });
    expect([status, headers['Cache-Control']]).toEqual([200, 'public, max-age=300']);
    expect(json).toMatchObject({
      issuer: 'https://issuer.example',
      jwks_uri: `https://issuer.example${routes['get-jwks'].path}`,
      authorization_endpoint: 'urn:buyer-linking:one-time-code',
      id_token_signing_alg_values_supported: ['ES256'],
    });
  });
});
