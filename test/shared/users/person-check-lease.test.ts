import { TransactionConflictException } from '@aws-sdk/client-dynamodb';
import { GetCommand, TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { problem } from '#shared/problems.ts';
import type { Table } from '#shared/table/client.ts';
import { personCheckKey } from '#shared/table/keys.ts';
import { getItem } from '#shared/table/reads.ts';
import type { TransactItem } from '#shared/table/writes.ts';
import { checkRecordFrom, isInProgress, LEASE_SECONDS } from '#shared/users/person-check.ts';
import { type CheckRequest, personChecks } from '#shared/users/person-check-lease.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { interceptedTable } from '#test/table/intercepted-table.ts';
import { resending } from '#test/table/resending.ts';
import { useTable } from '#test/table/use-table.ts';

const table = useTable();

let people = 0;

/** One person, and requests that want it checked. `refuse`: the key has used up its failed checks. */
const personUnderTest = (over: Table = table) => {
  people += 1;
  const person = { sellerId: 'sel_test', personHash: `hash ${people}` };
  const key = personCheckKey(person.sellerId, person.personHash);
  const clock = fakeClock('2026-11-21T08:00:00Z');
  const used = { failures: 0, refuse: false };
  const limits = {
    async consume() {
      if (used.refuse) throw problem('rate_limit_exceeded');
      used.failures += 1;
      return async () => {};
    },
  };
  const read = async () => checkRecordFrom(await getItem(table, key));
  const request = async (timeLeftMs = 60_000): Promise<CheckRequest> => ({
    ...person,
    record: await read(),
    deadlineMs: performance.now() + timeLeftMs,
    limits,
  });
  const failures = async () => Object.values((await read()).ended).filter((endedAtMs) => endedAtMs > 0);
  return {
    key,
    clock,
    used,
    request,
    failures,
    checks: personChecks(over, clock),
    isHeld: async () => isInProgress(await read(), clock()),
  };
};

/** A check that links the person in one transaction with the release. */
const link = async (release: TransactItem) => {
  await table.client.send(new TransactWriteCommand({ TransactItems: [release] }));
  return 'Sara';
};

const failing =
  (code: 'identity_mismatch' | 'phone_not_owned' | 'verification_unavailable') =>
  async (): Promise<never> => {
    throw problem(code);
  };

const mustNotRun = (): never => {
  throw new Error('a second check was made');
};

describe('a request alone', () => {
  it('gets the result of its check, and the transaction of the link releases the lease', async () => {
    const { checks, request, isHeld, failures } = personUnderTest();
    const held: boolean[] = [];
    const check = async (release: TransactItem) => {
      held.push(await isHeld());
      return link(release);
    };
    expect(await checks.oneAtATime(await request(), check)).toBe('Sara');
    expect([held, await isHeld(), await failures()]).toEqual([[true], false, []]);
  });

  it.each([
    ['the link was not written', async () => undefined, 'resolves'],
    ['a registry had no verdict', failing('verification_unavailable'), 'rejects'],
    ['the check met a defect', () => Promise.reject(new TypeError('a defect')), 'rejects'],
  ])('releases the lease and counts no failed check when %s', async (_what, check, outcome) => {
    const { checks, request, isHeld, failures, used } = personUnderTest();
    const [{ status }] = await Promise.allSettled([checks.oneAtATime(await request(), check)]);
    expect(status).toBe(outcome === 'resolves' ? 'fulfilled' : 'rejected');
    expect([await isHeld(), await failures(), used.failures]).toEqual([false, [], 0]);
  });

  it('gets too_many_attempts for its sixth failed check in 24 hours, before any check', async () => {
    const { checks, request, clock } = personUnderTest();
    for (const code of Array(5).fill('identity_mismatch')) {
      await expect(checks.oneAtATime(await request(), failing(code))).rejects.toMatchObject({ code });
      clock.advance(60);
    }
    await expect(checks.oneAtATime(await request(), mustNotRun)).rejects.toMatchObject({
      code: 'too_many_attempts',
      retryAfterSeconds: 86_400 - 300,
    });
  });

  it('gets rate_limit_exceeded in place of a verdict beyond the limit of the key; the check still counts for the person', async () => {
    const { checks, request, used, failures, clock } = personUnderTest();
    used.refuse = true;
    await expect(checks.oneAtATime(await request(), failing('phone_not_owned'))).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    });
    expect(await failures()).toEqual([clock()]);
  });

  it('gets no verdict that cannot be stored, so that none goes uncounted', async () => {
    const lost = new Error('the table cannot be reached');
    const broken = interceptedTable(table, ({ name }, send) =>
      name === 'UpdateCommand' ? Promise.reject(lost) : send(),
    );
    const { checks, request } = personUnderTest(broken);
    await expect(checks.oneAtATime(await request(), failing('identity_mismatch'))).rejects.toBe(lost);
  });

  it('is answered after its lease is released, since Lambda stops the process then', async () => {
    const order: string[] = [];
    const watched = interceptedTable(table, async ({ name }, send) => {
      const result = await send();
      if (name === 'UpdateCommand') order.push('released');
      return result;
    });
    const { checks, request } = personUnderTest(watched);
    await checks
      .oneAtATime(await request(), failing('verification_unavailable'))
      .catch(() => order.push('answered'));
    expect(order).toEqual(['released', 'answered']);
  });

  it('stores an expiry after the last time that the record can be needed', async () => {
    const { checks, request, key, clock } = personUnderTest();
    await checks.oneAtATime(await request(), link);
    const { Item } = await table.client.send(new GetCommand({ TableName: table.name, Key: key }));
    expect(Item?.ttl).toBe(clock() / 1000 + 86_400 + LEASE_SECONDS);
  });
});

describe('a request for a person that another request checks', () => {
  /** A request whose check runs until `end` is called. */
  const checking = async (timeLeftMs?: number) => {
    const bench = personUnderTest();
    const before = await bench.request(timeLeftMs);
    const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const first = bench.checks.oneAtATime(await bench.request(), async (release) => {
      begun.resolve();
      await ended.promise;
      return link(release);
    });
    await begun.promise;
    return { ...bench, before, first, end: ended.resolve };
  };

  it('makes no check, whether it has read the lease or the record before it', async () => {
    const { checks, request, before, first, end } = await checking();
    expect(await checks.oneAtATime(await request(), mustNotRun)).toBe('busy');
    expect(await checks.oneAtATime(before, mustNotRun)).toBe('busy');
    end();
    expect(await first).toBe('Sara');
    expect(await checks.oneAtATime(before, mustNotRun)).toBe('busy');
  });

  it('is verification_unavailable within 6 seconds of its deadline, with the rest of the lease as Retry-After', async () => {
    const { checks, request, before, clock, first, end } = await checking(5999);
    clock.advance(10);
    await expect(checks.oneAtATime(await request(5999), mustNotRun)).rejects.toMatchObject({
      code: 'verification_unavailable',
      retryAfterSeconds: LEASE_SECONDS - 10,
      cause: new Error('another request is checking the same person'),
    });
    await expect(checks.oneAtATime(before, mustNotRun)).rejects.toMatchObject({
      code: 'verification_unavailable',
    });
    end();
    await first;
  });

  it('takes the lease when it has expired; the end of the late check leaves it that lease', async () => {
    const { checks, request, isHeld, clock, first, end } = await checking();
    clock.advance(LEASE_SECONDS);
    const held: boolean[] = [];
    const check = async (release: TransactItem) => {
      end();
      await first;
      held.push(await isHeld());
      return link(release);
    };
    expect(await checks.oneAtATime(await request(), check)).toBe('Sara');
    expect([held, await isHeld()]).toEqual([[true], false]);
  });

  it('begins its check when the transaction that holds the item has ended', async () => {
    let conflicts = 3;
    const busy = interceptedTable(table, ({ name }, send) => {
      if (name !== 'PutCommand' || conflicts === 0) return send();
      conflicts -= 1;
      return Promise.reject(new TransactionConflictException({ message: 'conflict', $metadata: {} }));
    });
    const { checks, request } = personUnderTest(busy);
    expect(await checks.oneAtATime(await request(), link)).toBe('Sara');
    expect(conflicts).toBe(0);
  });
});

describe('twenty requests that read the same record', () => {
  it.each([
    ['once', (over: Table) => over],
    ['twice, because each first response was lost', resending],
  ])('make one check when each write is sent %s', async (_times, tableFrom) => {
    const { checks, request } = personUnderTest(tableFrom(table));
    const requests = await Promise.all(Array.from({ length: 20 }, () => request()));
    const results = await Promise.all(requests.map((each) => checks.oneAtATime(each, link)));
    expect(results.sort()).toEqual([...Array(19).fill('busy'), 'Sara'].sort());
  });

  it('count a failed check once when each write is sent twice', async () => {
    const { checks, request, failures, clock } = personUnderTest(resending(table));
    await expect(checks.oneAtATime(await request(), failing('identity_mismatch'))).rejects.toMatchObject({
      code: 'identity_mismatch',
    });
    expect(await failures()).toEqual([clock()]);
  });
});
