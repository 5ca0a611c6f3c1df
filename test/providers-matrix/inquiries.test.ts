import { type PersonOutcome, testNationalId } from '#shared/providers/test-identities.ts';
import { documentedOutcomes } from '#test/docs/test-identities-page.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { FAULT_NAMES, type Fault, WIRE_FAULTS } from '#test/simulators/faults.ts';
import { observed, optionsFor, summaryOf } from './observed.ts';
import { type MatrixService, startMatrixService } from './service.ts';

/** Each registry with each fault of each operation, over HTTP from the caller to the provider. */
const lines = quietLog();
let service: MatrixService;
beforeAll(async () => {
  service = await startMatrixService();
});
afterAll(() => service.stop());

const { create, newBuyer, expectNothingPersonal } = observed(() => service, lines);

// No request writes a credential, phone or national id to the log, or a credential to a response.
afterEach(() => expectNothingPersonal({ codes: 0 }));

const UNAVAILABLE = { status: 503, code: 'verification_unavailable', retryAfter: true };

/** Jibit issues tokens with any quota and balance of the account. */
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
  it.each(faults)('returns 503 and stores nothing for %s, and links afterwards', async (fault) => {
    service.use({ identity: [provider], ...optionsFor(fault) });
    const person = await newBuyer();
    const before = await service.items();

    await service.simulators.setFault(provider, fault, operation);
    const failed = await create(person);
    await service.simulators.setFault(provider, undefined);

    expect(summaryOf(failed)).toEqual(UNAVAILABLE);
    expect(await service.items()).toEqual(before);

    service.use({ identity: [provider] });
    expect((await create(person)).status).toBe(201);
    expect((await create(person)).status).toBe(200);
  });
});

it('explains a 503 in the log by the id of the request: provider, operation, reason and milliseconds', async () => {
  service.use({ identity: ['jibit'] });
  await service.simulators.setFault('jibit', 'quota', 'identity');
  const { json } = await create(await newBuyer());
  await service.simulators.setFault('jibit', undefined);
  const events = lines
    .map((line) => JSON.parse(line))
    .filter(({ request_id }) => request_id === json.request_id);
  expect(events).toContainEqual(
    expect.objectContaining({
      event: 'provider_called',
      provider: 'jibit',
      provider_operation: 'identity',
      outcome: 'quota',
    }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({
      event: 'request_completed',
      status: 503,
      code: 'verification_unavailable',
      cause_provider: 'jibit',
      cause_operation: 'identity',
      cause_reason: 'quota',
      calls: expect.stringMatching(/jibit:identity=\d+/),
    }),
  );
});

const PEOPLE = documentedOutcomes<PersonOutcome>('People who fail');
const UNDECIDED_PEOPLE = PEOPLE.filter(({ response }) => response.startsWith('503'));
const REJECTED_PEOPLE = PEOPLE.filter(({ response }) => response.startsWith('422'));

describe.each(['jibit', 'zohal'] as const)('%s, test persons', (provider) => {
  it.each(UNDECIDED_PEOPLE)(
    'returns 503 and stores nothing for $outcome, and links the next person',
    async ({ outcome }) => {
      service.use({ identity: [provider], ...optionsFor(outcome) });
      const person = await newBuyer(testNationalId(outcome));
      const before = await service.items();
      expect(summaryOf(await create(person))).toEqual(UNAVAILABLE);
      expect(await service.items()).toEqual(before);
      service.use({ identity: [provider] });
      expect((await create(await newBuyer())).status).toBe(201);
    },
  );

  it.each(REJECTED_PEOPLE)(
    'returns $response and stores no user for $outcome',
    async ({ outcome, response }) => {
      service.use({ identity: [provider] });
      const person = await newBuyer(testNationalId(outcome));
      const before = await service.items();
      const { status, json } = await create(person);
      expect(`${status} ${json.code}`).toBe(response);
      expect(await service.items()).toEqual(before);
    },
  );
});
