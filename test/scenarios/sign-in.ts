import { createRemoteJWKSet, jwtVerify } from 'jose';
import { sandboxCode } from '#shared/one-time-codes/new-code.ts';
import { newPhone } from '#test/generated-people.ts';
import { otherCode, registerBuyer, sendCode, toArabicDigits, toPersianDigits } from './buyers.ts';
import { call, expectProblem, expectRetryAfter } from './call.ts';
import { itWith, type ScenarioOptions, type Target } from './target.ts';

const verify = (target: Target, phone: string, code: string, key = target.keys.app) =>
  call(target, '/v1/auth/otp/verify', { key, body: { phone, code } });

const send = (target: Target, phone: string, key = target.keys.app) =>
  call(target, '/v1/auth/otp/send', { key, body: { phone } });

/** Signing a buyer in by phone: one-time codes and access tokens. */
export const signInScenarios = (options: ScenarioOptions): void => {
  const { target } = options;
  const scenario = itWith(options, 'sandbox');

  describe('a one-time code', () => {
    scenario('is accepted for another spelling of the phone, also in Persian digits', async () => {
      const phone = newPhone();
      expect((await send(target(), toPersianDigits(`0${phone.slice(3)}`))).status).toBe(202);
      const spaced = `${phone.slice(0, 3)} ${phone.slice(3, 6)}-${phone.slice(6)}`;
      expect((await verify(target(), spaced, toArabicDigits(sandboxCode(phone)))).status).toBe(200);
    });

    scenario('is accepted once', async () => {
      const phone = newPhone();
      const code = await sendCode(target(), phone);
      expect((await verify(target(), phone, code)).status).toBe(200);
      expectProblem(await verify(target(), phone, code), 'code_rejected');
    });

    scenario('is accepted on the fifth try and refused on the sixth', async () => {
      const [onFifth, onSixth] = [newPhone(), newPhone()];
      for (const [phone, wrongTries] of [
        [onFifth, 4],
        [onSixth, 5],
      ] as const) {
        const code = await sendCode(target(), phone);
        for (let step = 1; step <= wrongTries; step += 1) {
          expectProblem(await verify(target(), phone, otherCode(code, step)), 'code_rejected');
        }
      }
      expect((await verify(target(), onFifth, sandboxCode(onFifth))).status).toBe(200);
      const refusal = await verify(target(), onSixth, sandboxCode(onSixth));
      expectProblem(refusal, 'too_many_attempts');
      expectRetryAfter(refusal, 900);
    });
  });

  // A few at once suffice: more of them would take a busy machine longer than the deadline of a request. The tests of the store try 50.
  describe('parallel verifies', () => {
    scenario('return exactly one token for ten right codes', async () => {
      const phone = newPhone();
      const code = await sendCode(target(), phone);
      const replies = await Promise.all(Array.from({ length: 10 }, () => verify(target(), phone, code)));
      const tokens = replies.filter(({ status }) => status === 200);
      expect(tokens).toHaveLength(1);
      expect(replies.filter(({ status }) => status === 422 || status === 429)).toHaveLength(9);
    });
  });

  describe('the metadata of the issuer', () => {
    itWith(options)('names the issuer and its keys, without a key and cacheable', async () => {
      const reply = await call(target(), '/.well-known/openid-configuration');
      expect(reply.status).toBe(200);
      expect(reply.headers.get('cache-control')).toBe('public, max-age=300');
      expect(reply.json()).toMatchObject({
        issuer: target().issuer,
        jwks_uri: `${target().issuer}/.well-known/jwks.json`,
        id_token_signing_alg_values_supported: ['ES256'],
      });
    });
  });

  describe('an access token', () => {
    scenario('verifies with a JOSE library against the published keys', async () => {
      const phone = newPhone();
      const token = await registerBuyer(target(), phone);
      const keys = createRemoteJWKSet(new URL(`${target().baseUrl}/.well-known/jwks.json`));
      const { payload, protectedHeader } = await jwtVerify(token, keys, {
        algorithms: ['ES256'],
        issuer: target().issuer,
        audience: target().sellerId,
      });
      expect(protectedHeader.kid).toBeDefined();
      expect(payload).toMatchObject({
        sub: expect.stringMatching(/^byr_.{16,}$/),
        phone_number: phone,
        phone_number_verified: true,
        jti: expect.stringMatching(/.{16,}/),
        amr: ['otp', 'sms'],
        auth_time: payload.iat,
      });
      expect(Number(payload.exp) - Number(payload.iat)).toBe(3600);
    });
  });
};
