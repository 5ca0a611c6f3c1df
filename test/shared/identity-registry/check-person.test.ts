import { checkPerson } from '#shared/identity-registry/check-person.ts';
import type { IdentityRegistry, IdentityVerdict, OwnershipVerdict } from '#shared/identity-registry/port.ts';
import { Problem } from '#shared/problems.ts';
import { unavailable } from '#shared/providers/unavailable.ts';

const PERSON = {
  nationalId: '9990000010',
  birthDate: { year: 1370, month: 1, day: 5 },
  phone: '+989990000001',
};

const down = (retryAfterSeconds?: number) =>
  unavailable(
    { provider: 'p', operation: 'o' },
    'circuit_open',
    retryAfterSeconds === undefined ? { refused: true } : { refused: true, retryAfterSeconds },
  );

/** A registry whose checks answer, fail, or (`hangs`) end only when they are called off. */
const registryThat = (
  identity: IdentityVerdict | 'hangs' | Error,
  ownership: OwnershipVerdict | 'hangs' | Error,
) => {
  const calledOff: string[] = [];
  const asked: string[] = [];
  const act = async <T>(name: string, answer: T | 'hangs' | Error, signal: AbortSignal): Promise<T> => {
    asked.push(name);
    signal.addEventListener('abort', () => calledOff.push(name));
    if (answer instanceof Error) throw answer;
    if (answer !== 'hangs') return answer;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw unavailable({ provider: 'p', operation: name }, 'aborted', { refused: false });
  };
  const registry: IdentityRegistry = {
    checkIdentity: (_id, _day, signal) => act('identity', identity, signal),
    checkPhoneOwnership: (_id, _phone, signal) => act('ownership', ownership, signal),
  };
  return { registry, asked, calledOff };
};

const inAMinute = () => Date.now() + 60_000;

const problemOf = async (check: Promise<void>): Promise<Problem> => {
  const error = await check.then(
    () => new Error('it passed'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

it('passes a person whom both checks match, asked side by side', async () => {
  const { registry, asked } = registryThat('matched', 'matched');
  await expect(checkPerson(registry, PERSON, inAMinute())).resolves.toBeUndefined();
  expect(asked).toEqual(['identity', 'ownership']);
});

it.each([
  ['not_found', 'matched', 'identity_mismatch'],
  ['deceased', 'matched', 'identity_mismatch'],
  ['matched', 'not_matched', 'phone_not_owned'],
] as const)('refuses a person by a verdict: %s and %s is %s', async (identity, ownership, code) => {
  const { registry } = registryThat(identity, ownership);
  expect((await problemOf(checkPerson(registry, PERSON, inAMinute()))).code).toBe(code);
});

it.each([
  ['not_found', 'hangs', 'identity_mismatch', 'ownership'],
  ['hangs', 'not_matched', 'phone_not_owned', 'identity'],
  [down(), 'hangs', 'verification_unavailable', 'ownership'],
  ['hangs', down(), 'verification_unavailable', 'identity'],
] as const)(
  'ends with the first refusal and calls the other check off: %s, %s',
  async (identity, ownership, code, other) => {
    const { registry, calledOff } = registryThat(identity, ownership);
    expect((await problemOf(checkPerson(registry, PERSON, inAMinute()))).code).toBe(code);
    expect(calledOff).toContain(other);
  },
);

it('says how long to wait, by the circuit or else 30 seconds', async () => {
  const waits = [];
  for (const failure of [down(7), down()]) {
    const { registry } = registryThat(failure, 'matched');
    waits.push((await problemOf(checkPerson(registry, PERSON, inAMinute()))).retryAfterSeconds);
  }
  expect(waits).toEqual([7, 30]);
});

it('calls both checks off when the time of the request is over, less what the link needs', async () => {
  const { registry, calledOff } = registryThat('hangs', 'hangs');
  const { code } = await problemOf(checkPerson(registry, PERSON, Date.now() + 3020));
  expect([code, calledOff.sort()]).toEqual(['verification_unavailable', ['identity', 'ownership']]);
});

it('hands an error of ours on as it is', async () => {
  const bug = new TypeError('ours');
  await expect(checkPerson(registryThat(bug, 'hangs').registry, PERSON, inAMinute())).rejects.toBe(bug);
});
