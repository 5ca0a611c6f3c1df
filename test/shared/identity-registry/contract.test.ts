import { checkPerson } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import type { IdentityRegistry } from '#shared/identity-registry/port.ts';
import { PROBLEMS, Problem } from '#shared/problems.ts';
import { outcomeOfPerson, type PersonOutcome, testNationalId } from '#shared/providers/test-identities.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { documentedOutcomes } from '#test/docs/test-identities-page.ts';
import { fakeIdentityRegistry } from '#test/fakes/identity-registry.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
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
const ADAPTERS = ['jibit', 'zohal'] as const;

const lines = quietLog();
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.close());

/** Opens a registry whose attempts end with the signals of `timeoutSignal`. */
type Open = (timeoutSignal?: () => AbortSignal) => IdentityRegistry;

const overSimulator =
  (name: (typeof ADAPTERS)[number]): Open =>
  (timeoutSignal = neverAborted) =>
    identityRegistryFrom([name], fixedSecret(JSON.stringify(simulators.providerSecret)), {
      timeoutSignal,
      retryPauseMs: () => 1,
      circuit: { failuresToOpen: 1000 },
    });

const sandbox: Open = (timeoutSignal = neverAborted) =>
  identityRegistryFrom(['sandbox'], fixedSecret('no secret'), {
    timeoutSignal,
    retryPauseMs: () => 1,
    circuit: { failuresToOpen: 1000 },
  });

const NO_VERDICT: readonly PersonOutcome[] = [
  'quota',
  'balance',
  'upstream_down',
  'malformed',
  'undecided',
  'rejected',
];

const fake: Open = () => {
  const failing = (nationalId: string) =>
    ['slow', ...NO_VERDICT].includes(outcomeOfPerson(nationalId) ?? '')
      ? new ProviderUnavailable({ provider: 'fake', operation: 'any' }, 'upstream', {
          delivery: 'possibly_sent',
        })
      : undefined;
  const verdicts = { not_found: 'not_found', deceased: 'deceased' } as const;
  return fakeIdentityRegistry({
    identity: (id) => failing(id) ?? verdicts[outcomeOfPerson(id) as 'not_found'] ?? 'matched',
    ownership: (id) => failing(id) ?? (outcomeOfPerson(id) === 'not_owner' ? 'not_matched' : 'matched'),
  });
};

const DAY = { year: 1370, month: 1, day: 5 };
const PHONE = '+989990000001';
const MATCHED = completeNationalId('999000001');

const ROWS: readonly (readonly [string, Open])[] = [
  ['the fake', fake],
  ['the sandbox', sandbox],
  ...ADAPTERS.map((name) => [`${name} over its simulator`, overSimulator(name)] as const),
];

describe.each(ROWS)('%s', (_name, open) => {
  it.each([
    ['a living person', MATCHED, 'matched'],
    ['no person', testNationalId('not_found'), 'not_found'],
    ['a dead person', testNationalId('deceased'), 'deceased'],
    ['a person who does not own the phone', testNationalId('not_owner'), 'matched'],
  ] as const)('checks the identity of %s', async (_whom, nationalId, verdict) => {
    expect(await open().checkIdentity(nationalId, DAY, neverAborted())).toBe(verdict);
  });

  it.each([
    ['its owner', MATCHED, 'matched'],
    ['another person', testNationalId('not_owner'), 'not_matched'],
  ] as const)('checks the phone of %s', async (_whom, nationalId, verdict) => {
    expect(await open().checkPhoneOwnership(nationalId, PHONE, neverAborted())).toBe(verdict);
  });

  it.each(NO_VERDICT)('throws ProviderUnavailable instead of a verdict: %s', async (outcome) => {
    const registry = open();
    const nationalId = testNationalId(outcome);
    await failureOf(registry.checkIdentity(nationalId, DAY, neverAborted()));
    await failureOf(registry.checkPhoneOwnership(nationalId, PHONE, neverAborted()));
    expect(await registry.checkIdentity(MATCHED, DAY, neverAborted())).toBe('matched');
  });

  it('returns to each of 40 concurrent callers its own verdict', async () => {
    const registry = open();
    const pair: readonly PersonOutcome[] = ['deceased', 'not_found'];
    const outcomes = Array.from({ length: 20 }, () => pair).flat();
    const verdicts = await Promise.all(
      outcomes.map((outcome, index) =>
        registry.checkIdentity(testNationalId(outcome, index % 10), DAY, neverAborted()),
      ),
    );
    expect(verdicts).toEqual(outcomes);
  });
});

it.each(documentedOutcomes<PersonOutcome>('People who fail'))(
  'the sandbox makes $response of the test person of $outcome, as the page about test identities says',
  async ({ outcome, response }) => {
    const registry = sandbox(outcome === 'slow' ? () => AbortSignal.timeout(50) : neverAborted);
    const person = { nationalId: testNationalId(outcome), birthDate: DAY, phone: PHONE };
    const error = await checkPerson(registry, person).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Problem);
    const { code } = error as Problem;
    expect(`${PROBLEMS[code].status} ${code}`).toBe(response.split(',')[0]);
  },
);

/** What the port says of each fault in the provider's own format. */
const SAID_OF_API_FAULTS: Readonly<Record<(typeof ADAPTERS)[number], Readonly<Record<ApiFault, Said>>>> = {
  jibit: {
    unauthorized: 'credentials, not_sent, up',
    token_expired: 'credentials, not_sent, up',
    quota: 'quota, not_sent, up',
    balance: 'balance, not_sent, up',
    blocked_address: 'blocked, possibly_sent, unknown',
    upstream_down: 'upstream, not_sent, up',
    server_error: 'upstream, not_sent, up',
    error_in_200: 'no_verdict, possibly_sent, unknown',
    undecided: 'undecided, not_sent, up',
  },
  zohal: {
    unauthorized: 'credentials, not_sent, up',
    token_expired: 'credentials, not_sent, up',
    quota: 'quota, possibly_sent, unknown',
    balance: 'credentials, not_sent, up',
    blocked_address: 'blocked, possibly_sent, unknown',
    upstream_down: 'upstream, not_sent, up',
    server_error: 'upstream, not_sent, up',
    error_in_200: 'upstream, not_sent, up',
    undecided: 'undecided, not_sent, up',
  },
};

/** The first attempt was made on a kept connection, which broke: it may have arrived. Only the second one was refused. */
const SAID_OF_WIRE_FAULTS = {
  ...saidOfWireFaults,
  connection_refused: 'transport, possibly_sent, down',
} as const;

/** Jibit issues tokens with any quota and balance of the account. */
const SAID_OF_TOKEN_FAULTS: Readonly<Partial<Record<Fault, Said>>> = {
  ...SAID_OF_WIRE_FAULTS,
  unauthorized: 'credentials, not_sent, up',
  blocked_address: 'blocked, possibly_sent, down',
  upstream_down: 'upstream, not_sent, up',
  server_error: 'upstream, not_sent, up',
  error_in_200: 'malformed, possibly_sent, down',
  wrong_types: 'malformed, possibly_sent, down',
  // Nobody was asked about the person.
  slow_headers: 'timeout, not_reached, down',
  slow_body: 'timeout, not_reached, down',
};

const FAULTY_OPERATIONS = [
  ...ADAPTERS.flatMap((name) => {
    const said = { ...SAID_OF_WIRE_FAULTS, ...SAID_OF_API_FAULTS[name] };
    return [
      [name, 'identity', said],
      [name, 'ownership', said],
    ] as const;
  }),
  ['jibit', 'token', SAID_OF_TOKEN_FAULTS],
] as const;

describe.each(FAULTY_OPERATIONS)('%s with a fault of its operation %s', (name, operation, said) => {
  itForAll(Object.entries(said) as [Fault, Said][])(
    'returns no verdict, says why, shows no secret in the log or the error, and works again afterwards',
    async (fault, expected) => {
      lines.length = 0;
      const timeout = () => timeoutAfter(simulators.nextCall(name, operation));
      let timeoutSignal = isSlow(fault) ? timeout : neverAborted;
      const registry = overSimulator(name)(() => timeoutSignal());
      const inquire = () =>
        operation === 'ownership'
          ? registry.checkPhoneOwnership(MATCHED, PHONE, neverAborted())
          : registry.checkIdentity(MATCHED, DAY, neverAborted());
      await simulators.setFault(name, fault, operation);
      const failure = await failureOf(inquire());
      // The provider starts anew, which ends what hangs.
      await simulators.setFault(name, 'connection_refused');
      await simulators.setFault(name, undefined);
      timeoutSignal = neverAborted;
      expect(summaryOf(failure)).toBe(expected);
      expect(await inquire()).toBe('matched');
      expect(lines.length).toBeGreaterThan(0);
      const shown = lines.join() + everythingIn(failure);
      const secrets = [...credentialsIn(simulators.providerSecret[name]), MATCHED, PHONE.slice(3)];
      expect(secrets.filter((secret) => shown.includes(secret))).toEqual([]);
    },
  );
});
