import { accessTokenClaims, issuerMetadata, TOKEN_CLAIMS } from '#shared/access-tokens/rules.ts';

const VERIFIED_AT = 1_800_000_000;

const verification = {
  issuer: 'https://api.example.test',
  audience: 'sel_a',
  buyerId: 'byr_1',
  phone: '+989990000001',
  verifiedAt: VERIFIED_AT,
};

describe('accessTokenClaims', () => {
  it('returns exactly the claims of the contract, valid for an hour', () => {
    expect(accessTokenClaims(verification)).toEqual({
      iss: 'https://api.example.test',
      sub: 'byr_1',
      aud: 'sel_a',
      iat: VERIFIED_AT,
      exp: VERIFIED_AT + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      auth_time: VERIFIED_AT,
      amr: ['otp', 'sms'],
      phone_number: '+989990000001',
      phone_number_verified: true,
    });
  });

  it('gives each token a different id', () => {
    const ids = Array.from({ length: 100 }, () => accessTokenClaims(verification).jti);
    expect(new Set(ids).size).toBe(100);
  });
});

describe('issuerMetadata', () => {
  it('names the issuer, its keys and its algorithm', () => {
    expect(issuerMetadata('https://api.example.test', '/.well-known/jwks.json')).toEqual({
      issuer: 'https://api.example.test',
      authorization_endpoint: 'urn:buyer-linking:one-time-code',
      jwks_uri: 'https://api.example.test/.well-known/jwks.json',
      response_types_supported: ['id_token'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      claims_supported: [...TOKEN_CLAIMS],
    });
  });

  it('names every claim of an access token', () => {
    expect([...TOKEN_CLAIMS].sort()).toEqual(Object.keys(accessTokenClaims(verification)).sort());
  });
});
