import { setImmediate as nextTurn } from 'node:timers/promises';
import { TransactWriteCommand } from '@aws-sdk/lib-dynamodb';
import { Problem, problem } from '#shared/problems.ts';
import type { Table } from '#shared/table/client.ts';
import { notWritten, type TransactItem, written } from '#shared/table/writes.ts';
import { type CheckRequest, personChecks } from '#shared/users/person-check-lease.ts';
import { personCheckStore } from '#shared/users/person-check-store.ts';
import { LEASE_SECONDS, NO_CHECKS, withLease } from '#shared/users/person-checks.ts';
import { fakeClock } from '#test/fakes/clock.ts';
import { type EmbeddedTable, startEmbeddedTable } from '#test/table/embedded-table.ts';
import { resending } from '#test/table/resending.ts';

let table: EmbeddedTable;
beforeAll(async () => {
  table = await startEmbeddedTable();
});
afterAll(() => table.stop());

let people = 0;

/**
 * One person, and requests that want it checked. A pause lets other requests run. It moves the clocks for `one` waiting request;
 * the pauses of many would add up.
 */
const personUnderTest = (over: Table = table, waiting: 'one' | 'many' = 'one') => {
  people += 1;
  const person = { sellerId: 'sel_test', personHash: `hash ${people}` };
  const clock = fakeClock('2026-11-21T08:00:00Z');
  let elapsedMs = 0;
  const timer = {
    nowMs: () => elapsedMs,
    async pause(ms: number) {
      elapsedMs += waiting === 'one' ? ms : 0;
      clock.advance(waiting === 'one' ? ms / 1000 : 0);
      await nextTurn();
    },
  };
  const checks = personChecks(personCheckStore(over), clock, timer);
  const store = personCheckStore(table);
  const linked: { name?: string } = {};
  const used = { looks: 0, failures: 0, limit: Number.POSITIVE_INFINITY };
  const limits = {
    async check() {
      used.looks += 1;
      if (used.failures >= used.limit) throw problem('rate_limit_exceeded');
    },
    recheck: () => limits.check(),
    async consume() {
      await limits.check();
      used.failures += 1;
      return { refund: async () => {} };
    },
  };
  const request = async (changes: Partial<CheckRequest<string>> = {}): Promise<CheckRequest<string>> => ({
    person,
    dataHash: 'data',
    startedAtMs: clock(),
    deadlineMs: performance.now() + 60_000,
    record: await store.read(person),
    findPerson: async () => linked.name,
    limits,
    ...changes,
  });
  /** A check that links the person in one transaction with the release. */
  const link = (name: string) => async (release: TransactItem) => {
    linked.name = name;
    await table.client.send(new TransactWriteCommand({ TransactItems: [release] }));
    return written(name);
  };
  return { person, clock, checks, store, used, linked, request, link };
};

const problemOf = async (call: Promise<unknown>): Promise<Problem> => {
  const error = await call.then(
    () => new Error('the check was written'),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

/** A check that ends with `error` once `end` is called; `begun` resolves when it has begun. */
const pendingCheck = (error: unknown) => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const check = async (): Promise<never> => {
    begun.resolve();
    await ended.promise;
    throw error;
  };
  return { check, begun: begun.promise, end: ended.resolve };
};

const mustNotRun = (): never => {
  throw new Error('a second check was made');
};

describe('one request alone', () => {
  it('gets the result of its check, and its release is part of the link transaction', async () => {
    const { checks, request, link, store, person } = personUnderTest();
    expect(await checks.oneAtATime(await request(), link('Sara'))).toEqual(written('Sara'));
    const { lease_id, ended } = await store.read(person);
    expect([lease_id, ended.map(({ code }) => code)]).toEqual([undefined, ['linked']]);
  });

  it('holds the lease while the check runs', async () => {
    const { checks, request, store, person } = personUnderTest();
    const { check, begun, end } = pendingCheck(problem('identity_mismatch'));
    const running = problemOf(checks.oneAtATime(await request(), check));
    await begun;
    expect((await store.read(person)).lease_id).toBeDefined();
    end();
    expect((await running).code).toBe('identity_mismatch');
    expect((await store.read(person)).lease_id).toBeUndefined();
  });

  it('releases the lease when the person was linked without it', async () => {
    const { checks, request, store, person } = personUnderTest();
    expect(await checks.oneAtATime(await request(), async () => notWritten('Sara'))).toEqual(
      notWritten('Sara'),
    );
    expect(await store.read(person)).toMatchObject({ ended: [] });
    expect((await store.read(person)).lease_id).toBeUndefined();
  });

  it('releases the lease when the check fails without a result for the person', async () => {
    const { checks, request, store, person } = personUnderTest();
    const bug = new TypeError('a defect');
    await expect(checks.oneAtATime(await request(), () => Promise.reject(bug))).rejects.toBe(bug);
    expect(await store.read(person)).toEqual({ version: 2, ended: [] });
  });

  it('gets too_many_attempts for its sixth failed check in 24 hours, before any check', async () => {
    const { checks, request, clock } = personUnderTest();
    const fail = () => Promise.reject(problem('identity_mismatch'));
    for (const _ of Array.from({ length: 5 })) {
      expect((await problemOf(checks.oneAtATime(await request(), fail))).code).toBe('identity_mismatch');
      clock.advance(60);
    }
    expect(await problemOf(checks.oneAtATime(await request(), mustNotRun))).toMatchObject({
      code: 'too_many_attempts',
      retryAfterSeconds: 86_400 - 300,
    });
  });

  it('gets rate_limit_exceeded instead of a verdict beyond the limit of the key, and the verdict counts for the person', async () => {
    const { checks, request, used, store, person } = personUnderTest();
    used.limit = 1;
    const fail = async (): Promise<never> => {
      used.failures = 1;
      throw problem('phone_not_owned');
    };
    expect((await problemOf(checks.oneAtATime(await request(), fail))).code).toBe('rate_limit_exceeded');
    expect((await store.read(person)).ended.map(({ code }) => code)).toEqual(['phone_not_owned']);
  });

  it('throws when a verdict cannot be stored, so that no verdict goes uncounted', async () => {
    const { checks, request } = personUnderTest();
    const lateFailure = new Error('the table cannot be reached');
    const fail = async (): Promise<never> => {
      table.client.middlewareStack.add(() => () => Promise.reject(lateFailure), {
        step: 'initialize',
        name: 'outage',
      });
      throw problem('identity_mismatch');
    };
    const failing = checks.oneAtATime(await request(), fail);
    await expect(failing).rejects.toBe(lateFailure);
    table.client.middlewareStack.remove('outage');
  });
});

describe('requests at the same moment', () => {
  it('make one check: one is linked, the others find that link', async () => {
    const { checks, request, link } = personUnderTest(table, 'many');
    const requests = await Promise.all(Array.from({ length: 20 }, () => request()));
    let made = 0;
    const check = (release: TransactItem) => {
      made += 1;
      return link('Sara')(release);
    };
    const results = await Promise.all(requests.map((each) => checks.oneAtATime(each, check)));
    expect(made).toBe(1);
    expect(results.filter((result) => result.written)).toEqual([written('Sara')]);
    expect(results.filter((result) => !result.written)).toEqual(Array(19).fill(notWritten('Sara')));
  });

  it.each([
    ['identity_mismatch', {}],
    ['phone_not_owned', {}],
    ['verification_unavailable', { retryAfterSeconds: 17 }],
  ] as const)('get the same refusal for the same data, from one check: %s', async (refusal, options) => {
    const { checks, request, used } = personUnderTest(table, 'many');
    const first = pendingCheck(problem(refusal, options));
    const firstResult = problemOf(checks.oneAtATime(await request(), first.check));
    await first.begun;
    const waiting = await Promise.all(Array.from({ length: 5 }, () => request()));
    const results = waiting.map((each) => problemOf(checks.oneAtATime(each, mustNotRun)));
    await nextTurn();
    first.end();
    const others = await Promise.all(results);
    const { code, retryAfterSeconds } = await firstResult;
    expect([code, retryAfterSeconds]).toEqual([refusal, problem(refusal, options).retryAfterSeconds]);
    expect(others).toEqual(Array(5).fill(expect.objectContaining({ code, retryAfterSeconds })));
    expect(used.failures).toBe(code === 'verification_unavailable' ? 0 : 1);
  });

  it('do not share a refusal of other data: the second makes its own check after the first', async () => {
    const { checks, request, link } = personUnderTest();
    const first = pendingCheck(problem('identity_mismatch'));
    const firstResult = problemOf(checks.oneAtATime(await request(), first.check));
    await first.begun;
    const second = checks.oneAtATime(await request({ dataHash: 'other data' }), link('Sara'));
    first.end();
    expect((await firstResult).code).toBe('identity_mismatch');
    expect(await second).toEqual(written('Sara'));
  });

  it('get no verdict of another request when the key has used up its failed checks', async () => {
    const { checks, request, used } = personUnderTest();
    used.limit = 1;
    const first = pendingCheck(problem('identity_mismatch'));
    const firstResult = problemOf(checks.oneAtATime(await request(), first.check));
    await first.begun;
    const waiting = [await request(), await request({ dataHash: 'other data' })].map((each) =>
      problemOf(checks.oneAtATime(each, mustNotRun)),
    );
    first.end();
    expect((await firstResult).code).toBe('identity_mismatch');
    expect((await Promise.all(waiting)).map(({ code }) => code)).toEqual(
      Array(2).fill('rate_limit_exceeded'),
    );
  });

  it('make five failed checks of 60 birth dates, and no more', async () => {
    const { checks, request, clock } = personUnderTest(table, 'many');
    const requests = await Promise.all(
      Array.from({ length: 60 }, (_, day) => request({ dataHash: `day ${day}`, startedAtMs: clock() })),
    );
    let made = 0;
    let atOnce = 0;
    const check = async (): Promise<never> => {
      made += 1;
      atOnce += 1;
      expect(atOnce).toBe(1);
      await nextTurn();
      atOnce -= 1;
      throw problem('identity_mismatch');
    };
    const results = await Promise.all(requests.map((each) => problemOf(checks.oneAtATime(each, check))));
    expect(made).toBe(5);
    expect(results.filter(({ code }) => code === 'identity_mismatch')).toHaveLength(5);
    expect(results.filter(({ code }) => code === 'too_many_attempts')).toHaveLength(55);
  });
});

describe('a holder that crashed', () => {
  it('is replaced when its lease has expired', async () => {
    const { checks, request, link, store, person, clock } = personUnderTest();
    await store.replace(person, withLease(NO_CHECKS, 'crashed', clock()), clock());
    const startedAtMs = clock();
    expect(await checks.oneAtATime(await request(), link('Sara'))).toEqual(written('Sara'));
    expect(clock() - startedAtMs).toBeGreaterThanOrEqual(LEASE_SECONDS * 1000);
  });

  it('makes a waiting request verification_unavailable at its deadline, with the rest of the lease as Retry-After', async () => {
    const { checks, request, store, person, clock } = personUnderTest();
    await store.replace(person, withLease(NO_CHECKS, 'crashed', clock()), clock());
    const startedAtMs = clock();
    const deadlineMs = performance.now() + 16_000;
    const { code, retryAfterSeconds, cause } = await problemOf(
      checks.oneAtATime(await request({ deadlineMs }), mustNotRun),
    );
    const waitedSeconds = (clock() - startedAtMs) / 1000;
    expect(code).toBe('verification_unavailable');
    expect(waitedSeconds).toBeGreaterThan(9);
    expect(waitedSeconds).toBeLessThanOrEqual(10);
    expect(retryAfterSeconds).toBe(Math.ceil(LEASE_SECONDS - waitedSeconds));
    expect(cause).toEqual(new Error('another request is checking the same person'));
  });
});

describe('when the responses of writes are lost', () => {
  it('a request recognizes its own lease, and counts its failed check once', async () => {
    const { checks, request, store, person } = personUnderTest(resending(table));
    const fail = () => Promise.reject(problem('identity_mismatch'));
    expect((await problemOf(checks.oneAtATime(await request(), fail))).code).toBe('identity_mismatch');
    const record = await store.read(person);
    expect([record.lease_id, record.ended.length]).toEqual([undefined, 1]);
  });

  it('twenty requests make one check', async () => {
    const { checks, request, link } = personUnderTest(resending(table), 'many');
    const requests = await Promise.all(Array.from({ length: 20 }, () => request()));
    const results = await Promise.all(requests.map((each) => checks.oneAtATime(each, link('Sara'))));
    expect(results.filter((result) => result.written)).toHaveLength(1);
  });
});
