import { checkPerson } from '#shared/identity-registry/check-person.ts';
import { identityRegistryFrom } from '#shared/identity-registry/configured.ts';
import { completeNationalId } from '#shared/values/national-id.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { fixedSecret } from '#test/fakes/secret.ts';
import { failureOf, neverAborted } from '#test/shared/providers/failure.ts';
import { quietLog } from '#test/shared/providers/quiet-log.ts';
import { type Simulators, startSimulators } from '#test/simulators/server.ts';

quietLog();
const clock = fakeClock('2026-11-21T08:00:00Z');
let simulators: Simulators;
beforeEach(async () => {
  simulators = await startSimulators(clock);
});
afterEach(() => simulators.close());

const PERSON = {
  nationalId: completeNationalId('999000001'),
  birthDate: { year: 1370, month: 1, day: 5 },
  phone: '+989990000001',
};

const registryOf = (...names: string[]) =>
  identityRegistryFrom(names, fixedSecret(JSON.stringify(simulators.providerSecret)), {
    clock,
    retryPauseMs: () => 0,
    circuit: { failuresToOpen: 2, openMs: 10_000 },
  });

const check = (registry: ReturnType<typeof registryOf>) => checkPerson(registry, PERSON);

describe('the configured registry', () => {
  it('has a circuit for each operation, so that a working one is still called', async () => {
    const registry = registryOf('jibit');
    await simulators.setFault('jibit', 'html_instead_of_json', 'identity');
    for (let call = 0; call < 3; call += 1) {
      await failureOf(registry.checkIdentity(PERSON.nationalId, PERSON.birthDate, neverAborted()));
      expect(await registry.checkPhoneOwnership(PERSON.nationalId, PERSON.phone, neverAborted())).toBe(
        'matched',
      );
    }
    expect(simulators.calls().jibit).toMatchObject({ identity: 2, ownership: 3 });
  });

  it('makes no paid call for a person if the circuit of the other check is open', async () => {
    const registry = registryOf('jibit');
    await simulators.setFault('jibit', 'html_instead_of_json', 'identity');
    for (let call = 0; call < 2; call += 1) {
      await failureOf(registry.checkIdentity(PERSON.nationalId, PERSON.birthDate, neverAborted()));
    }
    await registry.checkPhoneOwnership(PERSON.nationalId, PERSON.phone, neverAborted());
    const before = simulators.calls().jibit;
    for (let call = 0; call < 20; call += 1) {
      await expect(check(registry)).rejects.toMatchObject({
        code: 'verification_unavailable',
        retryAfterSeconds: 10,
      });
    }
    // A request that was aborted on the wire would be counted before this one.
    await registry.checkPhoneOwnership(PERSON.nationalId, PERSON.phone, neverAborted());
    expect(simulators.calls().jibit).toEqual({ ...before, ownership: (before.ownership ?? 0) + 1 });
  });

  it('calls the second registry only for the operation that fails at the first', async () => {
    const registry = registryOf('jibit', 'zohal');
    await simulators.setFault('jibit', 'balance', 'ownership');
    await check(registry);
    expect(simulators.calls()).toMatchObject({
      jibit: { identity: 1, ownership: 1 },
      zohal: { ownership: 1 },
    });
    expect(simulators.calls().zohal).not.toHaveProperty('identity');
  });

  it('calls the second registry when the first has no credentials', async () => {
    const { zohal } = simulators.providerSecret;
    const registry = identityRegistryFrom(['jibit', 'zohal'], fixedSecret(JSON.stringify({ zohal })));
    await expect(check(registry)).resolves.toBeUndefined();
  });

  it('throws at start for an unknown provider', () => {
    expect(() => registryOf('acme')).toThrow('unknown provider "acme"; there are: jibit, zohal, sandbox');
  });
});
