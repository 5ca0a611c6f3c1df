import { accessTokenClaims } from '#shared/access-tokens/rules.ts';

const subject = {
  issuer: 'https://api.example.test',
  audience: 'sel_a',
  buyerId: 'byr_1',
  phone: '+989990000001',
};

const NOW_MS = Date.parse('2026-11-21T08:00:00.999Z');

describe('accessTokenClaims', () => {
  it('holds exactly the claims of the contract, for an hour from now in whole seconds', () => {
    const issuedAt = Date.parse('2026-11-21T08:00:00Z') / 1000;
    expect(accessTokenClaims(subject, NOW_MS)).toEqual({
      iss: 'https://api.example.test',
      sub: 'byr_1',
      aud: 'sel_a',
      iat: issuedAt,
      exp: issuedAt + 3600,
      jti: expect.stringMatching(/^[0-9a-f-]{36}$/),
      phone_number: '+989990000001',
      phone_number_verified: true,
    });
  });

  it('gives each token an id of its own', () => {
    const ids = Array.from({ length: 100 }, () => accessTokenClaims(subject, NOW_MS).jti);
    expect(new Set(ids).size).toBe(100);
  });
});
