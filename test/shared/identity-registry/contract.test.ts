import { type Simulators, startSimulators } from '#local/simulators/server.ts';
import { outcomeOfPerson, type PersonOutcome, testNationalId } from '#local/simulators/test-identities.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import type { IdentityRegistry } from '#shared/identity-registry/port.ts';
import { ProviderUnavailable } from '#shared/providers/unavailable.ts';
import { completeNationalId } from '#shared/users/national-id.ts';
import { fakeIdentityRegistry } from '#test/fakes/identity-registry.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, noHurry } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';

/** A row a provider: a new adapter adds its name here. */
const ADAPTERS = ['jibit', 'zohal'] as const;

quietLog();
let simulators: Simulators;
beforeAll(async () => {
  simulators = await startSimulators();
});
afterAll(() => simulators.close());

/** Makes a registry that gives an attempt so long. */
type Open = (attemptTimeoutMs?: number) => IdentityRegistry;

const overSimulator =
  (name: (typeof ADAPTERS)[number]): Open =>
  (attemptTimeoutMs = 20_000) =>
    identityRegistryFrom([name], fixedSecret(JSON.stringify(simulators.providerSecret)), {
      attemptTimeoutMs,
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
      ? new ProviderUnavailable({ provider: 'fake', operation: 'any', reason: 'upstream', refused: true })
      : undefined;
  const verdicts = { not_found: 'not_found', deceased: 'deceased' } as const;
  return fakeIdentityRegistry({
    identity: (id) => failing(id) ?? verdicts[outcomeOfPerson(id) as 'not_found'] ?? 'matched',
    ownership: (id) => failing(id) ?? (outcomeOfPerson(id) === 'not_owner' ? 'not_matched' : 'matched'),
  });
};

const DAY = { year: 1370, month: 1, day: 5 };
const PHONE = '+989990000001';
const ANYBODY = completeNationalId('999000001');

const ROWS: readonly (readonly [string, Open])[] = [
  ['the fake', fake],
  ...ADAPTERS.map((name) => [`${name} over its simulator`, overSimulator(name)] as const),
];

describe.each(ROWS)('%s', (_name, open) => {
  it.each([
    ['a living person', ANYBODY, 'matched'],
    ['nobody', testNationalId('not_found'), 'not_found'],
    ['a person who has died', testNationalId('deceased'), 'deceased'],
    ['a person whose phone is another’s', testNationalId('not_owner'), 'matched'],
  ] as const)('says of the identity of %s what it is', async (_whom, nationalId, verdict) => {
    expect(await open().checkIdentity(nationalId, DAY, noHurry())).toBe(verdict);
  });

  it.each([
    ['its owner', ANYBODY, 'matched'],
    ['another person', testNationalId('not_owner'), 'not_matched'],
  ] as const)('says of a phone whether it belongs to %s', async (_whom, nationalId, verdict) => {
    expect(await open().checkPhoneOwnership(nationalId, PHONE, noHurry())).toBe(verdict);
  });

  it.each(NO_VERDICT)('gives no verdict, but a failure, where there is none: %s', async (outcome) => {
    const registry = open();
    const nationalId = testNationalId(outcome);
    await failureOf(registry.checkIdentity(nationalId, DAY, noHurry()));
    await failureOf(registry.checkPhoneOwnership(nationalId, PHONE, noHurry()));
    expect(await registry.checkIdentity(ANYBODY, DAY, noHurry())).toBe('matched');
  });

  it('waits no longer than it was told to for a provider that never answers', async () => {
    const slow = testNationalId('slow');
    await failureOf(open(50).checkIdentity(slow, DAY, noHurry()));
    await failureOf(open(50).checkPhoneOwnership(slow, PHONE, noHurry()));
  });

  it.each([
    { year: 1370, month: 1, day: 5 },
    { year: 1403, month: 12, day: 30 },
    { year: 1299, month: 6, day: 31 },
  ])('takes the day $year/$month/$day in the form that its provider wants', async (day) => {
    expect(await open().checkIdentity(ANYBODY, day, noHurry())).toBe('matched');
  });

  it('keeps the answers of many who ask at once apart', async () => {
    const registry = open();
    const pair: readonly PersonOutcome[] = ['deceased', 'not_found'];
    const outcomes = Array.from({ length: 20 }, () => pair).flat();
    const verdicts = await Promise.all(
      outcomes.map((outcome, index) =>
        registry.checkIdentity(testNationalId(outcome, index % 10), DAY, noHurry()),
      ),
    );
    expect(verdicts).toEqual(outcomes);
  });
});
