import { outcomeOfPhone, type PhoneOutcome, testPhone } from '#shared/providers/test-identities.ts';
import { type Delivery, ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import type { SmsSender } from '#shared/sms/port.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { fakeSmsSender, messageTo } from '#test/fakes/sms.ts';
import { failureOf, neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';

/** The providers under test. Add the name of a new one here. */
const ADAPTERS = ['kavenegar', 'sms-ir'] as const;

quietLog();
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.close());

const OUTCOMES: readonly (readonly [PhoneOutcome, Delivery])[] = [
  ['rejected', 'not_sent'],
  ['balance', 'not_sent'],
  ['upstream_down', 'possibly_sent'],
  ['malformed', 'possibly_sent'],
  ['lost_response', 'possibly_sent'],
];

interface Sender {
  readonly sender: SmsSender;
  codesTo(phone: string): readonly string[];
}

/** Opens a sender whose attempts end with the signals of `timeoutSignal`. */
type Open = (timeoutSignal?: () => AbortSignal) => Sender;

const overSimulator =
  (name: (typeof ADAPTERS)[number]): Open =>
  (timeoutSignal = neverAborted) => ({
    sender: smsSenderFrom([name], fixedSecret(JSON.stringify(simulators.providerSecret)), {
      timeoutSignal,
      circuit: { failuresToOpen: 1000 },
    }),
    codesTo: (phone) => simulators.messages(phone).map(({ code }) => code),
  });

const fake: Open = () => {
  const deliveries = new Map<string | undefined, Delivery>([...OUTCOMES, ['slow', 'possibly_sent']]);
  const sender = fakeSmsSender((phone) => {
    const delivery = deliveries.get(outcomeOfPhone(phone));
    return delivery === undefined
      ? undefined
      : new ProviderUnavailable({ provider: 'fake', operation: 'send_code' }, 'upstream', { delivery });
  });
  return {
    sender,
    codesTo: (phone) => sender.sent.filter((message) => message.phone === phone).map(({ code }) => code),
  };
};

const ROWS: readonly (readonly [string, Open])[] = [
  ['the fake', fake],
  ...ADAPTERS.map((name) => [`${name} over its simulator`, overSimulator(name)] as const),
];

/** No phone is used twice, since the simulators keep their messages. */
let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `+98999000${String(phones).padStart(4, '0')}`;
};

describe.each(ROWS)('%s', (name, open) => {
  it('sends the code to the phone, and returns the name of the provider', async () => {
    const { sender, codesTo } = open();
    const phone = newPhone();
    const { provider } = await sender.sendCode(messageTo(phone, '012345'), neverAborted());
    expect(name).toContain(provider);
    expect(codesTo(phone)).toEqual(['012345']);
  });

  it.each(OUTCOMES)(
    'fails with the provider (%s), and reports that the message was %s',
    async (outcome, delivery) => {
      const { sender } = open();
      const failure = await failureOf(sender.sendCode(messageTo(testPhone(outcome)), neverAborted()));
      expect(failure.delivery).toBe(delivery);
    },
  );

  it('has possibly sent the message when the provider never responds', async () => {
    const { sender } = open(() => AbortSignal.timeout(20));
    const failure = await failureOf(sender.sendCode(messageTo(testPhone('slow')), neverAborted()));
    expect(failure.delivery).toBe('possibly_sent');
  });

  it('sends the next message after a failure', async () => {
    const { sender, codesTo } = open();
    const phone = newPhone();
    await failureOf(sender.sendCode(messageTo(testPhone('balance')), neverAborted()));
    await sender.sendCode(messageTo(phone, '654321'), neverAborted());
    expect(codesTo(phone)).toEqual(['654321']);
  });
});

describe.each(ADAPTERS)('%s', (name) => {
  it.each(OUTCOMES)('calls the provider once: %s', async (outcome) => {
    const before = simulators.calls()[name].send_code ?? 0;
    await failureOf(overSimulator(name)().sender.sendCode(messageTo(testPhone(outcome, 50)), neverAborted()));
    expect(simulators.calls()[name].send_code).toBe(before + 1);
  });

  it('sends the message once when only the response is lost', async () => {
    const phone = testPhone('lost_response', 90 + ADAPTERS.indexOf(name));
    const { sender, codesTo } = overSimulator(name)();
    await failureOf(sender.sendCode(messageTo(phone), neverAborted()));
    expect(codesTo(phone)).toEqual(['123456']);
  });
});
