import { type PhoneOutcome, testPhone } from '#shared/providers/test-identities.ts';
import { documentedOutcomes } from '#test/docs/test-identities-page.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { FAULT_NAMES, type Fault } from '#test/simulators/faults.ts';
import { observed, optionsFor, summaryOf } from './observed.ts';
import { type MatrixService, startMatrixService } from './service.ts';

/** Each SMS provider with each fault, over HTTP from the caller to the provider. */
const lines = quietLog();
let service: MatrixService;
beforeAll(async () => {
  service = await startMatrixService();
});
afterAll(() => service.stop());

const { send, expectNothingPersonal } = observed(() => service, lines);

// No request writes a credential, phone or code to the log, or a credential or code to a response.
afterEach(() => expectNothingPersonal({ codes: 1 }));

const UNAVAILABLE = { status: 503, code: 'sms_unavailable', retryAfter: true };

/** The fault with which no provider is reached. */
const NOT_REACHED: Fault = 'connection_refused';

/** The faults with which the provider refuses the message and does not send it. */
const REFUSED: Readonly<Record<string, readonly Fault[]>> = {
  kavenegar: [
    'unauthorized',
    'token_expired',
    'quota',
    'balance',
    'blocked_address',
    'error_in_200',
    'undecided',
  ],
  'sms-ir': ['unauthorized', 'token_expired', 'quota', 'balance', 'blocked_address', 'error_in_200'],
};

let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `+98998${String(phones).padStart(7, '0')}`;
};

describe.each(['kavenegar', 'sms-ir'] as const)('%s, send_code', (provider) => {
  const refused = REFUSED[provider] ?? [];
  const possiblySent = FAULT_NAMES.filter((fault) => fault !== NOT_REACHED && !refused.includes(fault));

  const sendWith = async (fault: Fault, phone: string) => {
    service.use({ sms: [provider], ...optionsFor(fault) });
    await service.simulators.setFault(provider, fault);
    const reply = await send(phone);
    await service.simulators.setFault(provider, undefined);
    service.use({ sms: [provider] });
    return reply;
  };

  it(`sends nothing and starts no cool-down for ${NOT_REACHED}, and sends afterwards`, async () => {
    const phone = newPhone();
    expect(summaryOf(await sendWith(NOT_REACHED, phone))).toEqual(UNAVAILABLE);
    expect(service.simulators.messages(phone)).toEqual([]);
    expect((await send(phone)).status).toBe(202);
    expect(service.simulators.messages(phone)).toHaveLength(1);
  });

  it.each(refused)('sends nothing and starts the cool-down for %s, and sends after it', async (fault) => {
    const phone = newPhone();
    expect(summaryOf(await sendWith(fault, phone))).toEqual(UNAVAILABLE);
    expect(service.simulators.messages(phone)).toEqual([]);
    expect(summaryOf(await send(phone)).code).toBe('resend_too_soon');
    service.clock.advance(60);
    expect((await send(phone)).status).toBe(202);
    expect(service.simulators.messages(phone)).toHaveLength(1);
  });

  it.each(possiblySent)(
    'keeps the cool-down for %s, which possibly sent, and sends after it',
    async (fault) => {
      const phone = newPhone();
      expect(summaryOf(await sendWith(fault, phone))).toEqual(UNAVAILABLE);
      expect(summaryOf(await send(phone)).code).toBe('resend_too_soon');
      service.clock.advance(60);
      const before = service.simulators.messages(phone).length;
      expect((await send(phone)).status).toBe(202);
      expect(service.simulators.messages(phone)).toHaveLength(before + 1);
    },
  );

  it.each(documentedOutcomes<PhoneOutcome>('Phones'))(
    'returns $response to the test phone of $outcome, and sends to the next phone',
    async ({ outcome }) => {
      service.use({ sms: [provider], ...optionsFor(outcome) });
      const phone = testPhone(outcome, provider === 'kavenegar' ? 1 : 2);
      expect(summaryOf(await send(phone))).toEqual(UNAVAILABLE);
      service.use({ sms: [provider] });
      expect((await send(newPhone())).status).toBe(202);
    },
  );
});
