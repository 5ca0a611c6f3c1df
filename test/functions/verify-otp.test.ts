import { DeleteCommand } from '@aws-sdk/lib-dynamodb';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { adminBuyerStore } from '#admin/stores/buyer-store.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import { codeKey } from '#shared/table/keys.ts';
import { newPerson } from '#test/generated-people.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { testHashes } from './create-user-deps.ts';
import { callerContext } from './harness.ts';
import {
  published,
  RIGHT,
  seller,
  signer,
  type VerifyOtpOptions,
  verifyOtpOn,
  WRONG,
} from './verify-otp-under-test.ts';

const table = useTable();

const verifyOtp = (options?: VerifyOtpOptions) => verifyOtpOn(table, options);

const withoutRequestId = ({ json: { request_id, ...rest } }: { json: Record<string, unknown> }) => rest;

describe('200', () => {
  it('exchanges the right code for a token that a JOSE library verifies, with the claims of the contract', async () => {
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
      auth_time: clock() / 1000,
      amr: ['otp', 'sms'],
      phone_number: phone,
      phone_number_verified: true,
    });
  });

  it('logs code_redeemed with the provider of the code', async () => {
    const { phone } = newPerson();
    const { send, verify, events } = verifyOtp();
    await send(phone);
    await verify(phone, RIGHT);
    expect(events('code_redeemed')).toEqual([
      expect.objectContaining({ provider: 'first', seller_id: 'sel_test', CodesRedeemed: 1 }),
    ]);
  });

  it('registers the buyer with a key that holds buyers:register, and not without it', async () => {
    const app = newPerson();
    const seller = newPerson();
    const { send, verify, call } = verifyOtp();
    await send(app.phone);
    await send(seller.phone);
    await verify(app.phone, RIGHT);
    const authorizer = { ...callerContext, scopes: 'users:read users:write' };
    await call({ body: { phone: seller.phone, code: RIGHT }, authorizer });
    const registered = adminBuyerStore(table);
    expect(await registered.find(await testHashes.phone(app.phone))).toBeDefined();
    expect(await registered.find(await testHashes.phone(seller.phone))).toBeUndefined();
  });

  it('registers the buyer with any key where the SMS provider is the sandbox, but never a phone of the documented range', async () => {
    const { phone } = newPerson();
    const never = ['+989999990700', '+989999990799', '+989999807000', '+989999807999'];
    const { send, call } = verifyOtp({ inSandbox: true });
    await send(phone);
    await call({ body: { phone, code: RIGHT }, authorizer: seller('sel_test') });
    for (const each of never) {
      await send(each);
      expect((await call({ body: { phone: each, code: RIGHT } })).status).toBe(200);
    }
    const buyers = adminBuyerStore(table);
    expect(await buyers.find(await testHashes.phone(phone))).toBeDefined();
    for (const each of never) expect(await buyers.find(await testHashes.phone(each))).toBeUndefined();
  });

  it('registers the buyer without a key where otpAccess is public', async () => {
    const { phone } = newPerson();
    const { send, call } = verifyOtp({ otpAccess: 'public' });
    await send(phone, 'public');
    expect((await call({ body: { phone, code: RIGHT }, authorizer: null })).status).toBe(200);
    expect(await adminBuyerStore(table).find(await testHashes.phone(phone))).toBeDefined();
  });
});

describe('422', () => {
  it('returns the same body for a wrong, expired, used and never sent code, and for a code of another seller', async () => {
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
});

describe('a code that is erased or used while it is verified', () => {
  it('registers nobody', async () => {
    const { phone } = newPerson();
    const { current: hash } = await testHashes.phone(phone);
    const erasing = {
      ...signer,
      async sign(claims: Parameters<typeof signer.sign>[0]) {
        const Key = codeKey(hash, 'sel_test');
        await table.client.send(new DeleteCommand({ TableName: table.name, Key }));
        return signer.sign(claims);
      },
    };
    const { send, verify } = verifyOtp({ signer: erasing });
    await send(phone);
    expect((await verify(phone, RIGHT)).json.code).toBe('code_rejected');
    expect(await adminBuyerStore(table).find(new KeyedHash(hash))).toBeUndefined();
  });
});

describe('500', () => {
  const failingSigner = { ...signer, sign: () => Promise.reject(new Error('a defect')) };

  it('leaves the right code valid and counts it as no failure when the signer fails', async () => {
    const { phone } = newPerson();
    const broken = verifyOtp({ signer: failingSigner });
    await broken.send(phone);
    await broken.verify(phone, WRONG);
    expect((await broken.verify(phone, RIGHT)).status).toBe(500);
    const { failures, code } = await broken.record(phone);
    expect([failures, code?.tries]).toEqual([0, 2]);
    expect((await verifyOtp().verify(phone, RIGHT)).status).toBe(200);
  });

  it('has the error of the signer as its cause also when the failure cannot be taken back, which is logged', async () => {
    const { phone } = newPerson();
    const failing = interceptedTable(table, async (command, send) => {
      if (String(command.input.UpdateExpression).includes('lock_at')) throw new Error('no second write');
      return send();
    });
    const { send, verify, events } = verifyOtp({ signer: failingSigner, on: failing });
    await send(phone);
    expect((await verify(phone, RIGHT)).status).toBe(500);
    expect(events('request_failed')).toMatchObject([{ error_message: 'a defect' }]);
    expect(events('best_effort_failed')).toMatchObject([
      { step: 'clear_failures', error_message: 'no second write' },
    ]);
  });
});
