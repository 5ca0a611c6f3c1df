import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { summaryOf } from './observed.ts';
import { type MatrixService, SELLERS, startMatrixService } from './service.ts';

/** Sellers with templates that the provider does not have, over HTTP from the caller to the provider. */
const lines = quietLog();
let service: MatrixService;
beforeAll(async () => {
  service = await startMatrixService();
});
afterAll(() => service.stop());

const [WRONG = '', OTHER = ''] = SELLERS;
const NOT_APPROVED = { kavenegar: { fa: 'not-approved' }, 'sms-ir': { fa: 999_999 } };

let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `+98997${String(phones).padStart(7, '0')}`;
};

const send = (sellerId: string, phone = newPhone(), locale = 'fa') =>
  service.call('/v1/auth/otp/send', { phone, locale }, sellerId);

const loggedSince = (start: number) => lines.slice(start).map((line) => JSON.parse(line));

describe.each(['kavenegar', 'sms-ir'])("a seller's template that %s does not have", (provider) => {
  beforeAll(async () => {
    service.use({ sms: [provider] });
    await service.setTemplates(WRONG, NOT_APPROVED);
  });

  it('is answered 503 sms_unavailable and starts the cool-down, and nothing is sent', async () => {
    const phone = newPhone();
    expect(summaryOf(await send(WRONG, phone))).toEqual({
      status: 503,
      code: 'sms_unavailable',
      retryAfter: true,
    });
    expect(service.simulators.messages(phone)).toEqual([]);
    expect(summaryOf(await send(WRONG, phone)).code).toBe('resend_too_soon');
  });

  it('is logged as rejected by the provider, and counted in the metric of the alarm sms-unavailable', async () => {
    const start = lines.length;
    await send(WRONG);
    const logged = loggedSince(start);
    expect(logged).toContainEqual(
      expect.objectContaining({ event: 'provider_called', provider, outcome: 'rejected' }),
    );
    expect(logged).toContainEqual(
      expect.objectContaining({
        event: 'request_completed',
        seller_id: WRONG,
        operation: 'send-otp',
        outcome: 'sms_unavailable',
        Requests: 1,
      }),
    );
  });

  it('opens no circuit: the codes of other sellers are sent', async () => {
    for (let count = 0; count < 10; count += 1) expect((await send(WRONG)).status).toBe(503);
    expect((await send(OTHER)).status).toBe(202);
  });

  it('stops no message in the language that it is not for', async () => {
    const phone = newPhone();
    expect((await send(WRONG, phone, 'en')).status).toBe(202);
    expect(service.simulators.messages(phone)).toMatchObject([
      { text: expect.stringMatching(/^Sign-in code: \d{6}\n/) },
    ]);
  });
});

describe("a seller's template that the first provider does not have", () => {
  it("is sent by the second provider with that provider's template", async () => {
    service.use({ sms: ['kavenegar', 'sms-ir'] });
    await service.setTemplates(WRONG, { ...NOT_APPROVED, 'sms-ir': { fa: 200_001 } });
    const phone = newPhone();
    expect((await send(WRONG, phone)).status).toBe(202);
    expect(service.simulators.messages(phone)).toMatchObject([{ provider: 'sms-ir', template: 200_001 }]);
  });
});
