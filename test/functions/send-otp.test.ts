import { ScanCommand } from '@aws-sdk/lib-dynamodb';
import { handle, type SendOtpDeps } from '#functions/send-otp.ts';
import { codeStore } from '#shared/one-time-codes/store.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { routes } from '#shared/routes.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { functionUnderTest } from './harness.ts';
import { newPerson } from './people.ts';

let table: EmbeddedTable;

beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

const hashes = keyedHashesFrom(fixedSecret(JSON.stringify({ current: 'k'.repeat(40) })));

/** The function with an SMS provider that keeps what it is given, or fails as told. */
const sendOtp = (own: { otpAccess?: 'public' } = {}) => {
  const sent: { phone: string; code: string }[] = [];
  const provider: { failure?: Error } = {};
  const sms = {
    sendCode: async (phone: string, code: string) => {
      if (provider.failure) throw provider.failure;
      sent.push({ phone, code });
    },
  };
  const codes = codeStore(table);
  return {
    sent,
    provider,
    codes,
    ...functionUnderTest<(typeof routes)['send-otp'], SendOtpDeps>(routes['send-otp'], handle, table, {
      codes,
      hashes,
      sms,
      ...own,
    }),
  };
};

const failure = (refused: boolean) =>
  new ProviderUnavailable({ provider: 'test', operation: 'send', reason: 'balance', refused });

describe('202', () => {
  it('sends six digits to the phone and says how long they last', async () => {
    const { phone } = newPerson();
    const { call, sent } = sendOtp();
    const { status, json } = await call({ body: { phone } });
    expect([status, json]).toEqual([202, { expires_in: 300, resend_after: 60 }]);
    expect(sent).toEqual([{ phone, code: expect.stringMatching(/^[0-9]{6}$/) }]);
  });

  it('takes every spelling of a phone for the same phone', async () => {
    const { phone } = newPerson();
    const { call } = sendOtp();
    await call({ body: { phone } });
    const persian = `۰${[...phone.slice(3)].map((digit) => '۰۱۲۳۴۵۶۷۸۹'[Number(digit)]).join('')}`;
    expect((await call({ body: { phone: persian } })).status).toBe(429);
  });

  it('needs no key where the deployment says public', async () => {
    const { call, sent } = sendOtp({ otpAccess: 'public' });
    const { status, headers } = await call({ body: { phone: newPerson().phone }, authorizer: null });
    expect([status, sent.length]).toEqual([202, 1]);
    expect(headers).not.toHaveProperty('RateLimit');
  });

  it('stores neither the code nor the phone, and logs neither', async () => {
    const { phone } = newPerson();
    const { call, sent, lines } = sendOtp();
    await call({ body: { phone } });
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.name }));
    for (const text of [JSON.stringify(Items), lines.join()]) {
      expect(text).not.toContain(`"${sent[0]?.code}"`);
      expect(text).not.toContain(phone.slice(3));
    }
  });
});

describe('429', () => {
  it('is resend_too_soon within 60 seconds, with the seconds that are left', async () => {
    const { phone } = newPerson();
    const { call, clock } = sendOtp();
    await call({ body: { phone } });
    clock.advance(42);
    const { status, json, headers } = await call({ body: { phone } });
    expect([status, json.code, headers['Retry-After']]).toEqual([429, 'resend_too_soon', '18']);
    clock.advance(18);
    expect((await call({ body: { phone } })).status).toBe(202);
  });

  it('lets one of two sends at the same moment through', async () => {
    const { phone } = newPerson();
    const { call, sent } = sendOtp();
    const replies = await Promise.all([call({ body: { phone } }), call({ body: { phone } })]);
    expect(replies.map(({ status }) => status).sort()).toEqual([202, 429]);
    expect(sent).toHaveLength(1);
  });

  it('allows 5 sends in 10 minutes and 10 in 24 hours', async () => {
    const { phone } = newPerson();
    const { call, clock } = sendOtp();
    const statuses: number[] = [];
    for (let send = 0; send < 24; send += 1) {
      statuses.push((await call({ body: { phone } })).status);
      clock.advance(60);
    }
    expect(statuses).toEqual([
      ...[...Array(5).fill(202), ...Array(5).fill(429)],
      ...[...Array(5).fill(202), ...Array(9).fill(429)],
    ]);
    clock.advance(24 * 3600);
    expect((await call({ body: { phone } })).status).toBe(202);
  });
});

describe('503', () => {
  it('is sms_unavailable when the provider refuses; the cool-down is not used up and the code before still works', async () => {
    const { phone } = newPerson();
    const { call, provider, clock, codes } = sendOtp();
    await call({ body: { phone } });
    const [hash] = await hashes.phone(phone);
    const before = await codes.read(hash);
    clock.advance(60);
    provider.failure = failure(true);
    const { status, json, headers } = await call({ body: { phone } });
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'sms_unavailable', '10']);
    expect((await codes.read(hash))?.code).toEqual(before?.code);
    provider.failure = undefined;
    expect((await call({ body: { phone } })).status).toBe(202);
  });

  it('keeps the code and the cool-down when the message may have gone out', async () => {
    const { phone } = newPerson();
    const { call, provider, codes } = sendOtp();
    provider.failure = failure(false);
    const { status, headers } = await call({ body: { phone } });
    expect([status, headers['Retry-After']]).toEqual([503, '60']);
    const [hash] = await hashes.phone(phone);
    expect((await codes.read(hash))?.code).toBeDefined();
    provider.failure = undefined;
    expect((await call({ body: { phone } })).json.code).toBe('resend_too_soon');
  });
});

describe('422', () => {
  it.each([
    [{}],
    [{ phone: 9121234567 }],
    [{ phone: '02188888888' }],
    [{ phone: '+989121234567', code: '1' }],
  ])('refuses the body %j', async (body) => {
    const { status, json } = await sendOtp().call({ body });
    expect([status, json.code]).toEqual([422, 'validation_failed']);
  });
});
