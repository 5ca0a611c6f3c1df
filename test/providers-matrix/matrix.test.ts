import { FAULT_NAMES, type Fault, WIRE_FAULTS } from '#local/simulators/faults.ts';
import { TEST_PEOPLE, TEST_PHONES, testNationalId, testPhone } from '#local/simulators/test-identities.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type MatrixService, startMatrixService } from './service.ts';

/** Each provider × each fault × each operation, over HTTP from the caller to the provider. */
const lines = quietLog();
let service: MatrixService;
beforeAll(async () => {
  service = await startMatrixService();
});
afterAll(() => service.stop());

/** Long enough for a busy machine where the provider responses, short where it is known not to. */
const PATIENT_MS = 20_000;
const SLOW_FAULTS: readonly string[] = ['slow_headers', 'slow_body', 'slow'];
const attemptTimeoutMs = (fault: string): number => (SLOW_FAULTS.includes(fault) ? 50 : PATIENT_MS);

const optionsFor = (fault: string) => ({ options: { attemptTimeoutMs: attemptTimeoutMs(fault) } });

/** Everything that a caller, the log and the table may not see, gathered as it is made. */
const personal = new Set<string>();
/** What callers were told. */
const responses: string[] = [];

const create = async (person: object) => {
  const reply = await service.call('/v1/users', person);
  responses.push(reply.text);
  return reply;
};

const newBuyer = async (nationalId?: string) => {
  const person = await service.newBuyer(nationalId);
  personal.add(person.national_id).add(person.phone.slice(3));
  return person;
};

const gist = ({ status, json, headers }: Awaited<ReturnType<typeof create>>) => ({
  status,
  code: json.code,
  retryAfter: /^[1-9][0-9]*$/.test(headers.get('retry-after') ?? ''),
});

const UNAVAILABLE = { status: 503, code: 'verification_unavailable', retryAfter: true };
const UNSENT = { status: 503, code: 'sms_unavailable', retryAfter: true };

/** Jibit gives tokens whatever has become of the account's quota. */
const TOKEN_FAULTS: readonly Fault[] = [
  'unauthorized',
  'blocked_address',
  'upstream_down',
  'server_error',
  'error_in_200',
  ...(Object.keys(WIRE_FAULTS) as Fault[]),
];

const INQUIRIES = [
  ['jibit', 'identity', FAULT_NAMES],
  ['jibit', 'ownership', FAULT_NAMES],
  ['jibit', 'token', TOKEN_FAULTS],
  ['zohal', 'identity', FAULT_NAMES],
  ['zohal', 'ownership', FAULT_NAMES],
] as const;

describe.each(INQUIRIES)('%s, %s', (provider, operation, faults) => {
  it.each(faults)('%s refuses nobody and stores nothing; the next good request works', async (fault) => {
    service.use({ identity: [provider], ...optionsFor(fault) });
    const person = await newBuyer();
    const before = await service.items();

    await service.simulators.faults.set(provider, fault, operation);
    const failed = await create(person);
    await service.simulators.faults.set(provider, undefined);

    expect(gist(failed)).toEqual(UNAVAILABLE);
    expect(await service.items()).toEqual(before);

    service.use({ identity: [provider], options: { attemptTimeoutMs: PATIENT_MS } });
    expect((await create(person)).status).toBe(201);
    expect((await create(person)).status).toBe(200);
  });
});

const FAILING_PEOPLE = TEST_PEOPLE.filter(({ answer }) => answer.startsWith('503')).map(
  ({ outcome }) => outcome,
);
const REFUSED_PEOPLE = TEST_PEOPLE.filter(({ answer }) => answer.startsWith('422'));

describe.each(['jibit', 'zohal'] as const)('%s, test people', (provider) => {
  it.each(FAILING_PEOPLE)(
    '%s refuses nobody and stores nothing; the next good request works',
    async (outcome) => {
      service.use({ identity: [provider], ...optionsFor(outcome) });
      const person = await newBuyer(testNationalId(outcome));
      const before = await service.items();
      expect(gist(await create(person))).toEqual(UNAVAILABLE);
      expect(await service.items()).toEqual(before);
      service.use({ identity: [provider] });
      expect((await create(await newBuyer())).status).toBe(201);
    },
  );

  it.each(REFUSED_PEOPLE)(
    '$outcome is refused as $answer and stored nowhere',
    async ({ outcome, answer }) => {
      service.use({ identity: [provider] });
      const person = await newBuyer(testNationalId(outcome));
      const before = await service.items();
      const { status, json } = await create(person);
      expect(`${status} ${json.code}`).toBe(answer);
      expect(await service.items()).toEqual(before);
    },
  );
});

/** Faults after which the provider surely sent nothing: it said so, or was never reached. */
const SURE: Readonly<Record<string, readonly Fault[]>> = {
  kavenegar: [
    'unauthorized',
    'token_expired',
    'quota',
    'balance',
    'blocked_address',
    'error_in_200',
    'undecided',
    'connection_refused',
  ],
  'sms-ir': [
    'unauthorized',
    'token_expired',
    'quota',
    'balance',
    'blocked_address',
    'error_in_200',
    'connection_refused',
  ],
};

const send = async (phone: string) => {
  personal.add(phone.slice(3));
  const reply = await service.call('/v1/auth/otp/send', { phone });
  responses.push(reply.text);
  return reply;
};

let phones = 0;
const newPhone = (): string => {
  phones += 1;
  return `+98998${String(phones).padStart(7, '0')}`;
};

describe.each(['kavenegar', 'sms-ir'] as const)('%s, send_code', (provider) => {
  const sure = SURE[provider] ?? [];
  const unsure = FAULT_NAMES.filter((fault) => !sure.includes(fault));

  const sendUnder = async (fault: Fault, phone: string) => {
    service.use({ sms: [provider], ...optionsFor(fault) });
    await service.simulators.faults.set(provider, fault);
    const reply = await send(phone);
    await service.simulators.faults.set(provider, undefined);
    service.use({ sms: [provider] });
    return reply;
  };

  it.each(sure)('%s sends nothing and uses up no cool-down; the next good request works', async (fault) => {
    const phone = newPhone();
    expect(gist(await sendUnder(fault, phone))).toEqual(UNSENT);
    expect(service.simulators.messages(phone)).toEqual([]);
    expect((await send(phone)).status).toBe(202);
    expect(service.simulators.messages(phone)).toHaveLength(1);
  });

  it.each(unsure)(
    '%s may have sent, so the cool-down stands; the next good request after it works',
    async (fault) => {
      const phone = newPhone();
      expect(gist(await sendUnder(fault, phone))).toEqual(UNSENT);
      expect(gist(await send(phone)).code).toBe('resend_too_soon');
      service.clock.advance(60);
      const before = service.simulators.messages(phone).length;
      expect((await send(phone)).status).toBe(202);
      expect(service.simulators.messages(phone)).toHaveLength(before + 1);
    },
  );

  it.each(TEST_PHONES)(
    'the test phone of $outcome gets $answer, and the next good request works',
    async ({ outcome }) => {
      service.use({ sms: [provider], ...optionsFor(outcome) });
      const phone = testPhone(outcome, provider === 'kavenegar' ? 1 : 2);
      expect(gist(await send(phone))).toEqual(UNSENT);
      service.use({ sms: [provider] });
      expect((await send(newPhone())).status).toBe(202);
    },
  );
});

it('has put no key, phone, national id or code into a log line or an answer', () => {
  const secrets = Object.values(service.simulators.providerSecret).flatMap((section) =>
    Object.entries(section as Record<string, unknown>).flatMap(([name, value]) =>
      ['api_key', 'secret_key', 'token', 'template_id'].includes(name) ? [String(value)] : [],
    ),
  );
  const codes = [...personal].flatMap((phone) =>
    service.simulators.messages(`+98${phone}`).map(({ code }) => code),
  );
  expect([secrets.length, codes.length > 50, personal.size > 100, lines.length > 300]).toEqual([
    6,
    true,
    true,
    true,
  ]);

  const log = lines.join('\n');
  for (const value of [...secrets, ...personal]) expect(log).not.toContain(value);
  // Six digits are also found in a number of milliseconds: a code would stand between quotes or spaces.
  for (const code of codes) expect(log).not.toMatch(new RegExp(`["\\s:=]${code}["\\s&]`));
  const told = responses.join('\n');
  for (const value of [...secrets, ...codes]) expect(told).not.toContain(`"${value}"`);
});
