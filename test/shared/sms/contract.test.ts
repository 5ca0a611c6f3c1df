import { type Simulators, startSimulators } from '#local/simulators/server.ts';
import { outcomeOfPhone, type PhoneOutcome, testPhone } from '#local/simulators/test-identities.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import type { SmsSender } from '#shared/sms/port.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { fakeSmsSender } from '#test/fakes/sms.ts';
import { failureOf, noHurry } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';

/** A row a provider: a new adapter adds its name here. */
const ADAPTERS = ['kavenegar', 'sms-ir'] as const;

quietLog();
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.close());

/** Whether the provider, failing, surely sent nothing. */
const OUTCOMES: readonly (readonly [PhoneOutcome, boolean])[] = [
  ['rejected', true],
  ['balance', true],
  ['upstream_down', false],
  ['malformed', false],
  ['lost_answer', false],
];

interface Bench {
  readonly sender: SmsSender;
  codesTo(phone: string): readonly string[];
}

/** Makes a sender that gives an attempt so long. */
type Open = (attemptTimeoutMs?: number) => Bench;

const overSimulator =
  (name: (typeof ADAPTERS)[number]): Open =>
  (attemptTimeoutMs = 20_000) => ({
    sender: smsSenderFrom([name], fixedSecret(JSON.stringify(simulators.providerSecret)), {
      attemptTimeoutMs,
      circuit: { failuresToOpen: 1000 },
    }),
    codesTo: (phone) => simulators.messages(phone).map(({ code }) => code),
  });

const fake: Open = () => {
  const refusals = new Map<string | undefined, boolean>([...OUTCOMES, ['slow', false]]);
  const sender = fakeSmsSender((phone) => {
    const refused = refusals.get(outcomeOfPhone(phone));
    return refused === undefined
      ? undefined
      : new ProviderUnavailable({ provider: 'fake', operation: 'send_code', reason: 'upstream', refused });
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

/** No phone is used twice: the simulators remember. */
let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `+98999000${String(phones).padStart(4, '0')}`;
};

describe.each(ROWS)('%s', (_name, open) => {
  it('sends the code to the phone', async () => {
    const { sender, codesTo } = open();
    const phone = newPhone();
    await sender.sendCode(phone, '012345', noHurry());
    expect(codesTo(phone)).toEqual(['012345']);
  });

  it.each(OUTCOMES)(
    'fails where the provider does (%s), and says whether surely nothing went out: %s',
    async (outcome, refused) => {
      const { sender } = open();
      expect((await failureOf(sender.sendCode(testPhone(outcome), '123456', noHurry()))).refused).toBe(
        refused,
      );
    },
  );

  it('is not sure of anything when no answer comes', async () => {
    const failure = await failureOf(open(50).sender.sendCode(testPhone('slow'), '123456', noHurry()));
    expect(failure.refused).toBe(false);
  });

  it('works for the next one after a failure', async () => {
    const { sender, codesTo } = open();
    const phone = newPhone();
    await failureOf(sender.sendCode(testPhone('balance'), '123456', noHurry()));
    await sender.sendCode(phone, '654321', noHurry());
    expect(codesTo(phone)).toEqual(['654321']);
  });
});

describe.each(ADAPTERS)('%s', (name) => {
  it.each(OUTCOMES)('calls the provider once and never again by itself: %s', async (outcome) => {
    const before = simulators.calls()[name].send_code ?? 0;
    await failureOf(overSimulator(name)().sender.sendCode(testPhone(outcome, 50), '123456', noHurry()));
    expect(simulators.calls()[name].send_code).toBe(before + 1);
  });

  it('has sent the message once where only the answer was lost', async () => {
    const phone = testPhone('lost_answer', 90 + ADAPTERS.indexOf(name));
    const { sender, codesTo } = overSimulator(name)();
    await failureOf(sender.sendCode(phone, '123456', noHurry()));
    expect(codesTo(phone)).toEqual(['123456']);
  });
});
