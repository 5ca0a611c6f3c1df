import { mock } from 'node:test';
import { checkPerson } from '#shared/identity-registry/check-person.ts';
import type { IdentityRegistry, IdentityVerdict, OwnershipVerdict } from '#shared/identity-registry/port.ts';
import { Problem } from '#shared/problems.ts';
import { runInRequest } from '#shared/request-context.ts';
import { endless, requestUntil } from '#test/fakes/request.ts';
import { unavailableBecause } from '#test/fakes/unavailable.ts';

const PERSON = {
  nationalId: '9990000010',
  birthDate: { year: 1370, month: 1, day: 5 },
  phone: '+989990000001',
};

type Endless = 'hangs' | 'waits';

/** A registry whose checks return, fail, or end only when they are aborted: after the request (`hangs`) or before it (`waits`). */
const registryThat = (
  identity: IdentityVerdict | Endless | Error,
  ownership: OwnershipVerdict | Endless | Error,
) => {
  const aborted: string[] = [];
  const called: string[] = [];
  const act = async <T>(name: string, result: T | Endless | Error, signal: AbortSignal): Promise<T> => {
    called.push(name);
    signal.addEventListener('abort', () => aborted.push(name));
    if (result instanceof Error) throw result;
    if (result !== 'hangs' && result !== 'waits') return result;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw unavailableBecause('aborted', { delivery: result === 'hangs' ? 'possibly_sent' : 'not_reached' });
  };
  const registry: IdentityRegistry = {
    checkIdentity: (_id, _day, signal) => act('identity', identity, signal),
    checkPhoneOwnership: (_id, _phone, signal) => act('ownership', ownership, signal),
  };
  return { registry, called, aborted };
};

const problemOf = async (check: Promise<void>): Promise<Problem> => {
  const error = await check.then(
    () => new Error('the check passed'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

const check = (registry: IdentityRegistry) => checkPerson(registry, PERSON);

describe('checkPerson', () => {
  it('passes a person whom both checks match, called side by side', async () => {
    const { registry, called } = registryThat('matched', 'matched');
    await expect(check(registry)).resolves.toBeUndefined();
    expect(called).toEqual(['identity', 'ownership']);
  });

  it.each([
    ['not_found', 'matched', 'identity_mismatch'],
    ['deceased', 'matched', 'identity_mismatch'],
    ['matched', 'not_matched', 'phone_not_owned'],
  ] as const)('refuses a person by a verdict: %s and %s is %s', async (identity, ownership, code) => {
    const { registry } = registryThat(identity, ownership);
    expect((await problemOf(check(registry))).code).toBe(code);
  });

  it.each([
    ['identity_mismatch', 'ownership', 'not_found', 'hangs'],
    ['phone_not_owned', 'identity', 'hangs', 'not_matched'],
    ['verification_unavailable', 'ownership', unavailableBecause('quota'), 'hangs'],
    ['verification_unavailable', 'identity', 'hangs', unavailableBecause('quota')],
  ] as const)(
    'ends with the first failure, %s, and aborts the %s check',
    async (code, other, identity, ownership) => {
      const { registry, aborted } = registryThat(identity, ownership);
      expect((await problemOf(check(registry))).code).toBe(code);
      expect(aborted).toContain(other);
    },
  );

  it.each([
    ['the registry’s number of seconds', 7, 7],
    ['30 seconds when the registry names no time', undefined, 30],
    ['at least a second', 0, 1],
    ['at most an hour', 7200, 3600],
  ])('has %s as Retry-After', async (_what, retryAfterSeconds, expected) => {
    const details = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
    const { registry } = registryThat(unavailableBecause('circuit_open', details), 'matched');
    const { retryAfterSeconds: returned } = await problemOf(check(registry));
    expect(returned).toBe(expected);
  });

  it('keeps the failure of the provider as the cause of verification_unavailable, for the log', async () => {
    const failure = unavailableBecause('quota');
    const { registry } = registryThat(failure, 'matched');
    expect((await problemOf(check(registry))).cause).toBe(failure);
  });

  it('aborts both checks three seconds before the time of the request is over, the reserve for the link', async () => {
    const { registry, aborted } = registryThat('hangs', 'hangs');
    const timeout = mock.method(AbortSignal, 'timeout');
    const request = requestUntil(endless({ leftMs: () => 3020 }));
    const { code } = await problemOf(runInRequest(request, () => check(registry)));
    expect(timeout.mock.calls.map((call) => call.arguments)).toEqual([[20]]);
    expect([code, aborted.sort()]).toEqual(['verification_unavailable', ['identity', 'ownership']]);
  });

  it('throws an error that is no failure of a provider as it is', async () => {
    const bug = new TypeError('a defect');
    await expect(check(registryThat(bug, 'hangs').registry)).rejects.toBe(bug);
  });
});

describe('an undecided check', () => {
  const notReached = unavailableBecause('transport', { delivery: 'not_reached' });

  it.each([
    [true, 'the provider cannot decide', unavailableBecause('undecided'), 'waits'],
    [true, 'the other registry has matched', notReached, 'matched'],
    [true, 'the other registry had its request when it was aborted', notReached, 'hangs'],
    [true, 'the other registry refuses the person', notReached, 'not_matched'],
    [true, 'the other check ends with an error of our own code', notReached, new TypeError('a defect')],
    [false, 'the other check was aborted before it had a connection', notReached, 'waits'],
    [false, 'neither registry could be connected to', notReached, notReached],
  ] as const)('has reached a registry (%s) when %s', async (isReached, _what, identity, ownership) => {
    const failed = await problemOf(check(registryThat(identity, ownership).registry));
    expect(failed).toMatchObject({ code: 'verification_unavailable', isReached });
  });
});
