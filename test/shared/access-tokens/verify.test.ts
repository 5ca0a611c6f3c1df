import { tokenVerifier } from '#shared/access-tokens/verify.ts';
import { claimsOf, ISSUER, signer } from '#test/fakes/buyer-tokens.ts';

const PHONE = '+989121234567';
const AUTH_TIME = 1_760_000_000;

const verifier = (...issuers: readonly string[]) =>
  tokenVerifier({ publicKeys: signer.publicKeys, issuers, clock: () => AUTH_TIME * 1000 });

const tokenOf = async (iss: string) =>
  `Bearer ${await signer.sign({ ...claimsOf(PHONE, 'sel_test', AUTH_TIME), iss })}`;

describe('tokenVerifier', () => {
  it('accepts a token of each issuer, so that a change of the issuer ends no session', async () => {
    const verify = verifier('https://new.example', ISSUER);
    for (const iss of ['https://new.example', ISSUER]) {
      expect(await verify(await tokenOf(iss), 'sel_test')).toEqual({ phone: PHONE, authTime: AUTH_TIME });
    }
  });

  it('rejects a token of an issuer that was taken away', async () => {
    await expect(verifier('https://new.example')(await tokenOf(ISSUER), 'sel_test')).rejects.toMatchObject({
      code: 'invalid_access_token',
    });
  });
});
