import { PROBLEMS, Problem } from '#shared/problems.ts';
import { outcomeOfPhone, type PhoneOutcome, testPhone } from '#shared/providers/test-identities.ts';
import { type Delivery, ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { smsSenderFrom } from '#shared/sms/configured.ts';
import { deliverCode, type SmsSender } from '#shared/sms/port.ts';
import { documentedOutcomes } from '#test/docs/test-identities-page.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { fakeSmsSender, messageTo } from '#test/fakes/sms.ts';
import { itForAll } from '#test/for-all.ts';
import {
  everythingIn,
  failureOf,
  neverAborted,
  type Said,
  summaryOf,
  timeoutAfter,
} from '#test/shared/providers/failure.ts';
import { credentialsIn, isSlow, saidOfWireFaults } from '#test/shared/providers/faults-said.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import type { ApiFault, Fault } from '#test/simulators/faults.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';

/** The providers under test. Add the name of a new one here. */
const ADAPTERS = ['kavenegar', 'sms-ir'] as const;

const lines = quietLog();
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
});

it.each(documentedOutcomes<PhoneOutcome>('Phones'))(
  'the sandbox makes $response of the test phone of $outcome, as the page about test identities says',
  async ({ outcome, response }) => {
    const timeoutSignal = outcome === 'slow' ? () => AbortSignal.timeout(50) : neverAborted;
    const sender = smsSenderFrom(['sandbox'], fixedSecret('no secret'), { timeoutSignal });
    const sending = deliverCode(sender, messageTo(testPhone(outcome)));
    const error = await sending.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Problem);
    const { code } = error as Problem;
    expect(`${PROBLEMS[code].status} ${code}`).toBe(response.split(',')[0]);
  },
);

/** What the port says of each fault in the provider's own format. */
const SAID_OF_API_FAULTS: Readonly<Record<(typeof ADAPTERS)[number], Readonly<Record<ApiFault, Said>>>> = {
  kavenegar: {
    unauthorized: 'credentials, not_sent, up',
    token_expired: 'credentials, not_sent, up',
    quota: 'quota, not_sent, up',
    balance: 'balance, not_sent, up',
    blocked_address: 'blocked, not_sent, up',
    upstream_down: 'upstream, possibly_sent, down',
    server_error: 'upstream, possibly_sent, down',
    error_in_200: 'upstream, not_sent, up',
    undecided: 'upstream, not_sent, up',
  },
  'sms-ir': {
    unauthorized: 'credentials, not_sent, up',
    token_expired: 'credentials, not_sent, up',
    quota: 'quota, not_sent, up',
    balance: 'balance, not_sent, up',
    blocked_address: 'blocked, not_sent, up',
    upstream_down: 'upstream, possibly_sent, down',
    server_error: 'upstream, possibly_sent, up',
    error_in_200: 'balance, not_sent, up',
    undecided: 'upstream, possibly_sent, up',
  },
};

/** The faults that damage the response to a message that was sent. */
const SENT_NEVERTHELESS: readonly Fault[] = ['wrong_types', 'huge_body', 'truncated_body'];

describe.each(ADAPTERS)('%s with a fault', (name) => {
  itForAll(Object.entries({ ...saidOfWireFaults, ...SAID_OF_API_FAULTS[name] }) as [Fault, Said][])(
    'fails after one call at most, says why and whether the message may have been sent, and shows no secret in the log or the error',
    async (fault, expected) => {
      lines.length = 0;
      const timeout = () => timeoutAfter(simulators.nextCall(name, 'send_code'));
      let timeoutSignal = isSlow(fault) ? timeout : neverAborted;
      const { sender, codesTo } = overSimulator(name)(() => timeoutSignal());
      const phone = newPhone();
      const code = '918273';
      const callsBefore = simulators.calls()[name].send_code ?? 0;
      await simulators.setFault(name, fault);
      const failure = await failureOf(sender.sendCode(messageTo(phone, code), neverAborted()));
      await simulators.setFault(name, undefined);
      timeoutSignal = neverAborted;
      expect(simulators.calls()[name].send_code).toBe(callsBefore + (fault === 'connection_refused' ? 0 : 1));
      expect(summaryOf(failure)).toBe(expected);
      const sent = SENT_NEVERTHELESS.includes(fault) ? [code] : [];
      expect(codesTo(phone)).toEqual(sent);
      await sender.sendCode(messageTo(phone, '654321'), neverAborted());
      expect(codesTo(phone).toSorted()).toEqual(['654321', ...sent]);
      const shown = lines.join() + everythingIn(failure);
      expect(shown).toContain(name);
      const secrets = [...credentialsIn(simulators.providerSecret[name]), phone.slice(3), code];
      expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    },
  );
});
