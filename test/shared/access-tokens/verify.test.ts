import { tokenVerifier } from '#shared/access-tokens/verify.ts';
import { claimsOf, forgedTokens, ISSUER, signer } from '#test/fakes/buyer-tokens.ts';

const PHONE = '+989121234567';
const AUTH_TIME = 1_760_000_000;

const verifier = (...issuers: readonly string[]) => verifierAt(AUTH_TIME * 1000, ...issuers);

const verifierAt = (nowMs: number, ...issuers: readonly string[]) =>
  tokenVerifier({ publicKeys: signer.publicKeys, issuers, clock: () => nowMs });

const signed = (own = {}) => signer.sign({ ...claimsOf(PHONE, 'sel_test', AUTH_TIME), ...own });

const tokenOf = async (iss: string) => `Bearer ${await signed({ iss })}`;

const accepts = (authorization: string | undefined, nowMs = AUTH_TIME * 1000): Promise<boolean> =>
  verifierAt(nowMs, ISSUER)(authorization, 'sel_test').then(
    () => true,
    ({ code }) => code !== 'invalid_access_token',
  );

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

  it('rejects every token that is forged, of another seller or not of this moment, as invalid_access_token', async () => {
    const accepted: string[] = [];
    for (const [what, header] of Object.entries(
      await forgedTokens({ good: await signed(), sign: signer.sign }),
    ))
      if (await accepts(header)) accepted.push(what);
    expect(accepted).toEqual([]);
  });

  it.each(['Bearer ', 'bearer ', 'BEARER ', 'Bearer   '])('accepts the scheme as %j', async (scheme) => {
    expect(await accepts(`${scheme}${await signed()}`)).toBe(true);
  });

  it('accepts a token until the second in which it ends, and from 60 seconds before it was issued', async () => {
    const token = `Bearer ${await signed()}`;
    const [issued, ends] = [AUTH_TIME * 1000, (AUTH_TIME + 3600) * 1000];
    const moments = [issued - 60_001, issued - 60_000, ends - 1, ends];
    expect(await Promise.all(moments.map((nowMs) => accepts(token, nowMs)))).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });
});
