import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { handle, type VerifyOtpDeps } from '#functions/verify-otp.ts';
import { publishedKey, signingInput } from '#shared/access-tokens/jws.ts';
import type { TokenSigner } from '#shared/access-tokens/port.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { routes } from '#shared/routes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { callerContext, functionUnderTest } from './harness.ts';
import { newPerson } from './people.ts';

let table: EmbeddedTable;

beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const published = publishedKey(pair.publicKey.export({ format: 'jwk' }));
const signer: TokenSigner = {
  sign: async (claims) => {
    const input = signingInput(published.kid, claims);
    const key = createPrivateKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    return `${input}.${sign('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
  },
  publicKeys: async () => ({ keys: [published] }),
};

const RIGHT = '493027';
const WRONG = '111111';

const verifyOtp = (own: { otpAccess?: 'public'; signer?: TokenSigner } = {}) => {
  const codes = codeStore(table);
  const buyers = buyerStore(table);
  const test = functionUnderTest<(typeof routes)['verify-otp'], VerifyOtpDeps>(
    routes['verify-otp'],
    handle,
    table,
    {
      codes,
      buyers,
      hashes,
      signer,
      tokenIssuer: 'https://issuer.example',
      ...own,
    },
  );
  return {
    ...test,
    buyers,
    /** Puts a code out for a phone, as a send does. */
    async send(phone: string, audience = 'sel_test') {
      const now = Math.floor(test.clock() / 1000);
      const [hash] = await hashes.phone(phone);
      const seen = await codes.read(hash);
      const mac = await hashes.codeMac({ phone, audience, code: RIGHT, salt: `salt-${now}` });
      const code = { mac, audience, expiresAt: now + 300, tries: 0 };
      await codes.replaceCode(hash, seen, { code, sends: [...(seen?.sends ?? []), now], now });
    },
    verify: (phone: string, code: string) => test.call({ body: { phone, code } }),
  };
};

const withoutRequestId = ({ json: { request_id, ...rest } }: { json: Record<string, unknown> }) => rest;

describe('200', () => {
  it('trades the right code for a token that any JOSE library verifies, with the claims of the contract', async () => {
    const { phone } = newPerson();
    const { send, verify, clock } = verifyOtp();
    await send(phone);
    const { status, json } = await verify(phone, RIGHT);
    expect([status, json.token_type, json.expires_in]).toEqual([200, 'Bearer', 3600]);
    const { payload, protectedHeader } = await jwtVerify(
      json.access_token,
      createLocalJWKSet({ keys: [published] }),
      {
        algorithms: ['ES256'],
        issuer: 'https://issuer.example',
        audience: 'sel_test',
        currentDate: new Date(clock()),
      },
    );
    expect(protectedHeader.kid).toBe(published.kid);
    expect(payload).toEqual({
      iss: 'https://issuer.example',
      sub: expect.stringMatching(/^byr_[\w-]{22}$/),
      aud: 'sel_test',
      iat: clock() / 1000,
      exp: clock() / 1000 + 3600,
      jti: expect.any(String),
      phone_number: phone,
      phone_number_verified: true,
    });
  });

  it('takes Persian digits', async () => {
    const { phone } = newPerson();
    const { send, verify } = verifyOtp();
    await send(phone);
    expect((await verify(phone, '۴۹۳۰۲۷')).status).toBe(200);
  });

  it('is still 200 for the right code on the fifth try', async () => {
    const { phone } = newPerson();
    const { send, verify } = verifyOtp();
    await send(phone);
    for (let tries = 0; tries < 4; tries += 1) await verify(phone, WRONG);
    expect((await verify(phone, RIGHT)).status).toBe(200);
  });

  it('is for one of twenty right verifies at the same moment', async () => {
    const { phone } = newPerson();
    const { send, verify } = verifyOtp();
    await send(phone);
    const replies = await Promise.all(Array.from({ length: 20 }, () => verify(phone, RIGHT)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  });

  it('registers the buyer with a key that may, and not with one that may not', async () => {
    const app = newPerson();
    const seller = newPerson();
    const { send, verify, call, buyers } = verifyOtp();
    await send(app.phone);
    await send(seller.phone);
    await verify(app.phone, RIGHT);
    const authorizer = { ...callerContext, scopes: 'users:read users:write' };
    await call({ body: { phone: seller.phone, code: RIGHT }, authorizer });
    expect(await buyers.isRegistered(await hashes.phone(app.phone))).toBe(true);
    expect(await buyers.isRegistered(await hashes.phone(seller.phone))).toBe(false);
  });

  it('registers the buyer without a key where the deployment says public', async () => {
    const { phone } = newPerson();
    const { send, call, buyers } = verifyOtp({ otpAccess: 'public' });
    await send(phone, 'public');
    expect((await call({ body: { phone, code: RIGHT }, authorizer: null })).status).toBe(200);
    expect(await buyers.isRegistered(await hashes.phone(phone))).toBe(true);
  });
});

describe('422', () => {
  it('answers a wrong, expired, used and never sent code, and one of another seller, with the very same body', async () => {
    const { send, verify, clock } = verifyOtp();
    const [wrong, expired, used, never, others] = [
      newPerson(),
      newPerson(),
      newPerson(),
      newPerson(),
      newPerson(),
    ];
    await send(expired.phone);
    clock.advance(300);
    await send(wrong.phone);
    await send(used.phone);
    await send(others.phone, 'sel_other');
    await verify(used.phone, RIGHT);
    const replies = [
      await verify(wrong.phone, WRONG),
      await verify(expired.phone, RIGHT),
      await verify(used.phone, RIGHT),
      await verify(never.phone, RIGHT),
      await verify(others.phone, RIGHT),
    ];
    expect(new Set(replies.map((reply) => JSON.stringify(withoutRequestId(reply)))).size).toBe(1);
    expect(withoutRequestId(replies[0] as (typeof replies)[0])).toMatchObject({
      status: 422,
      code: 'code_rejected',
    });
  });

  it.each([
    [{ phone: '+989990000000' }],
    [{ phone: '+989990000000', code: '12345' }],
    [{ phone: '+989990000000', code: 123456 }],
  ])('is validation_failed for %j', async (body) => {
    const { status, json } = await verifyOtp().call({ body });
    expect([status, json.code, json.errors[0].pointer]).toEqual([422, 'validation_failed', '#/code']);
  });
});

describe('429', () => {
  it('is too_many_attempts from the sixth try on, right or wrong, until a new code is sent', async () => {
    const { phone } = newPerson();
    const { send, verify, clock } = verifyOtp();
    await send(phone);
    for (let tries = 0; tries < 5; tries += 1)
      expect((await verify(phone, WRONG)).json.code).toBe('code_rejected');
    const { status, json, headers } = await verify(phone, RIGHT);
    expect([status, json.code, headers['Retry-After']]).toEqual([429, 'too_many_attempts', '60']);
    clock.advance(60);
    await send(phone);
    expect((await verify(phone, RIGHT)).status).toBe(200);
  });

  it('counts at most five of fifty parallel guesses, and gives none a token', async () => {
    const { phone } = newPerson();
    const { send, verify } = verifyOtp();
    await send(phone);
    const replies = await Promise.all(Array.from({ length: 50 }, () => verify(phone, WRONG)));
    expect(replies.filter(({ status }) => status === 422)).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(45);
    expect((await verify(phone, RIGHT)).status).toBe(429);
  });

  it('locks the phone for 15 minutes after ten failures in a row, over two codes; a new code does not help', async () => {
    const { phone } = newPerson();
    const { send, verify, clock } = verifyOtp();
    for (const _code of ['first', 'second']) {
      await send(phone);
      for (let tries = 0; tries < 5; tries += 1) await verify(phone, WRONG);
      clock.advance(60);
    }
    await send(phone);
    const locked = await verify(phone, RIGHT);
    expect([locked.status, locked.json.code, locked.headers['Retry-After']]).toEqual([
      429,
      'too_many_attempts',
      '840',
    ]);
    clock.advance(840);
    await send(phone);
    expect((await verify(phone, WRONG)).json.code).toBe('code_rejected');
    expect((await verify(phone, RIGHT)).status).toBe(200);
  });

  it('forgets the failures once a code was right', async () => {
    const { phone } = newPerson();
    const { send, verify, clock } = verifyOtp();
    for (const _round of [1, 2, 3]) {
      await send(phone);
      for (let tries = 0; tries < 4; tries += 1) await verify(phone, WRONG);
      expect((await verify(phone, RIGHT)).status).toBe(200);
      clock.advance(60);
    }
  });
});

describe('500', () => {
  it('leaves the code usable when the signer fails', async () => {
    const { phone } = newPerson();
    const broken = verifyOtp({ signer: { ...signer, sign: () => Promise.reject(new Error('KMS is away')) } });
    await broken.send(phone);
    expect((await broken.verify(phone, RIGHT)).status).toBe(500);
    expect((await verifyOtp().verify(phone, RIGHT)).status).toBe(200);
  });
});
