import { mock } from 'node:test';
import { PutCommand, ScanCommand } from '@aws-sdk/lib-dynamodb';
import { PROBLEMS } from '#shared/problems.ts';
import { type Delivery, ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { sellerKey } from '#shared/table/keys.ts';
import { messageTo } from '#test/fakes/sms.ts';
import { newPerson } from '#test/generated-people.ts';
import { useTable } from '#test/table/use-table.ts';
import { type SendOtpOptions, sendOtpOn } from './send-otp-under-test.ts';
import { seller } from './verify-otp-under-test.ts';

const table = useTable();

const sendOtp = (options?: SendOtpOptions) => sendOtpOn(table, options);

const failure = (delivery: Delivery) =>
  new ProviderUnavailable({ provider: 'first', operation: 'send_code' }, 'balance', { delivery });

describe('202', () => {
  it('sends six digits to the phone and returns their lifetime', async () => {
    const { phone } = newPerson();
    const { send, sent } = sendOtp();
    const { status, json } = await send(phone);
    expect([status, json]).toEqual([202, { expires_in: 300, resend_after: 60 }]);
    expect(sent).toEqual([messageTo(phone, expect.stringMatching(/^[0-9]{6}$/))]);
  });

  it('requires no key where otpAccess is public', async () => {
    const { phone } = newPerson();
    const { call, sent, record } = sendOtp({ otpAccess: 'public' });
    const { status, headers } = await call({ body: { phone }, authorizer: null });
    expect([status, sent.length]).toEqual([202, 1]);
    expect(headers).not.toHaveProperty('RateLimit');
    expect((await record(phone, 'public')).code).toBeDefined();
  });

  it('counts one SMS of the key, however often other requests change the phone before the send is stored', async () => {
    const { send, codes } = sendOtp();
    const { recordSend } = codes;
    let conflicts = 3;
    codes.recordSend = async (...send) => {
      conflicts -= 1;
      return conflicts < 0 && recordSend(...send);
    };
    const limited = { ...seller('sel_a', 'key_conflicts'), limits: JSON.stringify({ 'sms-per-hour': 2 }) };
    expect((await send(newPerson().phone, limited)).status).toBe(202);
    expect(conflicts).toBe(-1);
    expect((await send(newPerson().phone, limited)).status).toBe(202);
    expect((await send(newPerson().phone, limited)).json.code).toBe('rate_limit_exceeded');
  });

  it('stores and logs neither the code nor the phone', async () => {
    const { phone } = newPerson();
    const { send, sent, lines } = sendOtp();
    await send(phone);
    const { Items } = await table.client.send(new ScanCommand({ TableName: table.name }));
    expect(Items?.length).toBeGreaterThan(0);
    expect(lines.length).toBeGreaterThan(0);
    for (const text of [JSON.stringify(Items), lines.join()]) {
      expect(text).not.toContain(`"${sent[0]?.code}"`);
      expect(text).not.toContain(phone.slice(3));
    }
  });

  it('logs code_sent with the provider that accepted the code, and stores it with the code', async () => {
    const { phone } = newPerson();
    const { send, lines, provider, record } = sendOtp();
    provider.name = 'second';
    await send(phone);
    const event = lines.map((line) => JSON.parse(line)).find((line) => line.event === 'code_sent');
    expect(event).toMatchObject({ provider: 'second', seller_id: 'sel_a', CodesSent: 1 });
    expect((await record(phone)).code?.provider).toBe('second');
  });
});

describe('the templates of the message of a 202', () => {
  const OWN = { kavenegar: { fa: 'kaveh-books' }, 'sms-ir': { fa: 200_001, en: 200_002 } };

  beforeAll(async () => {
    const Item = { ...sellerKey('sel_branded'), name: 'Kaveh Books', message_templates: OWN };
    await table.client.send(new PutCommand({ TableName: table.name, Item }));
  });

  it.each([
    ["a seller's own, in the language of the request", seller('sel_branded'), 'en', OWN],
    ['none of another seller, and Persian for a request without a language', seller('sel_a'), 'fa', {}],
    ["the buyer app's own", { ...seller('sel_branded'), scopes: 'buyers:register' }, 'fa', OWN],
    ['those of the stage where no key is taken', null, 'en', {}],
  ])('has %s', async (_which, authorizer, locale, templates) => {
    const { call, sent } = sendOtp(authorizer === null ? { otpAccess: 'public' } : {});
    const body = { phone: newPerson().phone, ...(locale === 'en' && { locale }) };
    await call({ body, authorizer });
    expect(sent).toEqual([expect.objectContaining({ locale, templates })]);
  });
});

describe('429', () => {
  it('refuses all but one of ten sends at the same moment', async () => {
    const { phone } = newPerson();
    const { send, sent } = sendOtp();
    const replies = await Promise.all(Array.from({ length: 10 }, () => send(phone)));
    expect(replies.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(replies.filter(({ json }) => json.code === 'resend_too_soon')).toHaveLength(9);
    expect(sent).toHaveLength(1);
  });

  it.each([
    ['the buyer app', {}, { ...seller('sel_app'), scopes: 'buyers:register' }],
    ['anybody where otpAccess is public', { otpAccess: 'public' }, null],
  ] as const)(
    'lets %s send another code to a phone an hour after ten, so that nobody keeps its buyer out',
    async (_who, options, authorizer) => {
      const { phone } = newPerson();
      const { call, clock } = sendOtp(options);
      const send = () => call({ body: { phone }, authorizer });
      for (let count = 0; count < 10; count += 1) {
        expect((await send()).status).toBe(202);
        clock.advance(120);
      }
      const { json, headers } = await send();
      expect([json.code, headers['Retry-After']]).toEqual(['resend_too_soon', String(3600 - 120)]);
      clock.advance(3600 - 120);
      expect((await send()).status).toBe(202);
    },
  );

  it('is too_many_attempts while the phone is locked for the seller, and nothing is sent', async () => {
    const { phone } = newPerson();
    const { send, sent, codes, clock, ownerOf, nowSeconds } = sendOtp();
    const owner = await ownerOf(phone);
    for (const _code of ['first', 'second']) {
      await send(phone);
      for (let tries = 0; tries < 5; tries += 1) await codes.countTry(owner, nowSeconds());
      clock.advance(60);
    }
    const { json, headers } = await send(phone);
    expect([json.code, headers['Retry-After'], sent.length]).toEqual(['too_many_attempts', '840', 2]);
    expect((await send(phone, seller('sel_b'))).status).toBe(202);
    clock.advance(840);
    expect((await send(phone)).status).toBe(202);
  });
});

describe('503', () => {
  const BOUNCED_AT = Date.parse('2026-11-21T08:01:00Z') / 1000;

  it.each([
    ['not_reached', '10', 'starts no cool-down', {}, undefined],
    ['not_sent', '60', 'starts the cool-down', { lastBouncedAt: BOUNCED_AT }, '60'],
  ] as const)(
    'is sms_unavailable for a message that was certainly not sent (%s), with Retry-After %s: it %s, and no code is outstanding',
    async (delivery, retryAfter, _what, bounced, wait) => {
      const { phone } = newPerson();
      const { send, provider, clock, record } = sendOtp();
      await send(phone);
      const { code, ...before } = await record(phone);
      expect(code).toBeDefined();
      clock.set(new Date(BOUNCED_AT * 1000).toISOString());
      provider.failure = failure(delivery);
      const { status, json, headers } = await send(phone);
      expect([status, json.code, headers['Retry-After']]).toEqual([503, 'sms_unavailable', retryAfter]);
      expect(await record(phone)).toEqual({ ...before, version: 3, ...bounced });
      provider.failure = undefined;
      expect((await send(phone)).headers['Retry-After']).toBe(wait);
    },
  );

  it('keeps the code and the cool-down of a message that was possibly sent', async () => {
    const { phone } = newPerson();
    const { send, provider, record } = sendOtp();
    provider.failure = failure('possibly_sent');
    const { status, headers, json } = await send(phone);
    expect([status, headers['Retry-After']]).toEqual([503, '60']);
    expect(json).toMatchObject({ code: 'sms_unavailable', detail: PROBLEMS.sms_unavailable.otherDetail });
    expect((await record(phone)).code).toBeDefined();
    provider.failure = undefined;
    expect((await send(phone)).json.code).toBe('resend_too_soon');
  });

  it('is service_unavailable when other requests keep changing the phone until the deadline, and counts nothing', async () => {
    const now = mock.method(performance, 'now');
    const { phone } = newPerson();
    const { send, codes, sent } = sendOtp();
    const { recordSend } = codes;
    codes.recordSend = async () => {
      now.mock.mockImplementation(() => Number.MAX_SAFE_INTEGER);
      return false;
    };
    const { status, json, headers } = await send(phone);
    now.mock.restore();
    expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '1']);
    expect(sent).toEqual([]);
    codes.recordSend = recordSend;
    expect((await send(phone)).status).toBe(202);
  });
});
