import { TransactionCanceledException } from '@aws-sdk/client-dynamodb';
import { handle as deleteUser } from '#functions/delete-user.ts';
import { handle as updateUser } from '#functions/update-user.ts';
import { routes } from '#shared/routes.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { newPerson } from '#test/generated-people.ts';
import { userStore } from '#test/shared/users/user-store.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { useTable } from '#test/table/use-table.ts';
import { addSellers, createUserUnderTest, newBuyerIn, newKey } from './create-user-under-test.ts';
import { functionUnderTest, type Reply } from './harness.ts';
import { linkPerson } from './users-on.ts';

const table = useTable();
beforeAll(() => addSellers(table, 'sel_test'));

const { now } = performance;
const { random } = Math;
afterEach(() => {
  performance.now = now;
  Math.random = random;
});

/** The times of an attempt, in milliseconds of the monotonic clock: within 0.3 seconds, and within the deadline of a request. */
const ATTEMPT_MS = 99;
const LONG_ATTEMPT_MS = 1700;

/** A table whose seller is always busy: another change precedes each transaction. Nothing waits between the attempts. */
const busyTable = (attemptMs = ATTEMPT_MS) => {
  let nowMs = 0;
  let attempts = 0;
  performance.now = () => nowMs;
  Math.random = () => 0;
  const busy = interceptedTable(table, async ({ name }, send) => {
    if (name !== 'TransactWriteCommand') return send();
    attempts += 1;
    nowMs += attemptMs;
    const CancellationReasons = [{ Code: 'TransactionConflict' }];
    throw new TransactionCanceledException({ message: 'canceled', $metadata: {}, CancellationReasons });
  });
  return { busy, attempts: () => attempts };
};

const expectUnavailable = ({ status, headers, json }: Reply): void => {
  expect([status, json.code, headers['Retry-After']]).toEqual([503, 'service_unavailable', '1']);
};

describe('while other changes of its seller come first', () => {
  it('a correction begins attempts for 0.3 seconds, and says 503 with a Retry-After of 1', async () => {
    const { id } = await linkPerson(table, 'sel_test');
    const { busy, attempts } = busyTable();
    const { call } = functionUnderTest(routes['update-user'], updateUser, busy, { users: userStore(busy) });
    expectUnavailable(await call({ path: { id }, body: { display_name: 'Busy' } }));
    expect(attempts()).toBe(Math.ceil(300 / ATTEMPT_MS));
  });

  it('a removal begins attempts for 0.3 seconds, and says 503 with a Retry-After of 1', async () => {
    const { id } = await linkPerson(table, 'sel_test');
    const { busy, attempts } = busyTable();
    const { call } = functionUnderTest(routes['delete-user'], deleteUser, busy, { users: userStore(busy) });
    expectUnavailable(await call({ path: { id } }));
    expect(attempts()).toBe(Math.ceil(300 / ATTEMPT_MS));
  });

  it('a link that has paid begins attempts until the deadline of its request', async () => {
    const body = await newBuyerIn(table);
    const { busy, attempts } = busyTable(LONG_ATTEMPT_MS);
    const { call, paid } = createUserUnderTest(busy);
    expectUnavailable(await call({ body, authorizer: newKey(), timeLeftMs: 12_500 }));
    expect(paid).toEqual({ identity: 1, ownership: 1 });
    expect(attempts()).toBe(Math.ceil(12_000 / LONG_ATTEMPT_MS));
  });

  it('a check of a user that has paid begins attempts until the deadline of its request', async () => {
    const person = { ...newPerson(), phone: (await newBuyerIn(table)).phone };
    const { id } = await linkPerson(table, 'sel_test', person);
    const { busy, attempts } = busyTable(LONG_ATTEMPT_MS);
    const { check, paid } = createUserUnderTest(busy, {
      deps: (deps) => ({ ...deps, clock: fakeClock('2026-11-22T08:00:00Z') }),
    });
    const { national_id, birth_date, phone } = person;
    const body = { national_id, birth_date, phone };
    expectUnavailable(await check({ path: { id }, body, authorizer: newKey(), timeLeftMs: 12_500 }));
    expect(paid).toEqual({ identity: 1, ownership: 1 });
    expect(attempts()).toBe(Math.ceil(12_000 / LONG_ATTEMPT_MS));
  });
});
