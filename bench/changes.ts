import { randomUUID } from 'node:crypto';
import { handler } from '#functions/update-user.ts';
import { STAGES } from '#lib/stages.ts';
import { deadlineIn } from '#shared/deadline.ts';
import { redirectLog } from '#shared/log.ts';
import { PLANS } from '#shared/rate-limits/plans.ts';
import { runInRequest } from '#shared/request-context.ts';
import { KeyedHash } from '#shared/secrets/keyed-hashes.ts';
import type { Table } from '#shared/table/client.ts';
import { userRemover } from '#shared/users/remove-user.ts';
import { benchUserId, call, figure, putSeller, received, report, startBenchDatabase } from './harness.ts';
import { startVirtualTime, type VirtualTime } from './virtual-time.ts';

/**
 * `npm run bench:changes` corrects users of one seller at the same time, by the deployed code, in virtual time. Those of a burst send once, at
 * the same time; workers send again a random time after each response, until the limit of their one key is used up. Beside 100 workers
 * another seller corrects, and buyers end links of the first one. Like Lambda, the reserved concurrency of prod refuses the corrections that
 * exceed it.
 */
const BURSTS = [5, 20];
const RUNS = 20;
const FEW_WORKERS = 8;
const MANY_WORKERS = 100;
const MANY_RUNS = 3;
/** The longest time between a response and the next request of a worker. */
const WORKER_PAUSE_MS = 200;
/** In each run, over the time that the many workers need for what their key may send in a minute. */
const OTHER_REQUESTS = 100;
const ENDS = 20;
const BESIDE_MS = 3000;
const POOL = STAGES.prod.reservedConcurrency.functions['update-user'];
/** Each client has a user of its own. */
const USERS = 400;

/** The time of a call, in milliseconds: assumed, with that of the function around it. */
const CALL_MS = 8;
const TRANSACTION_MS = 16;
/** The deadline of an end, in milliseconds. */
const END_MS = 19_500;

const main = async (): Promise<void> => {
  await using database = await startBenchDatabase();
  const { table } = database;
  redirectLog(() => {});
  for (const seller of ['busy', 'other']) await putSeller(table, `sel_${seller}`, USERS);
  const time = startVirtualTime((command) => (command === 'TransactWriteCommand' ? TRANSACTION_MS : CALL_MS));

  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  for (const size of BURSTS) {
    const burst = (pool: Pool) => all(size, (user) => correctOwn(pool, user));
    rows.push(await measure(time, `${size} at once`, { work: burst, runs: RUNS }));
  }
  const few = (pool: Pool) => correctAgain(time, pool, FEW_WORKERS);
  rows.push(await measure(time, `${FEW_WORKERS} workers`, { work: few, runs: 1 }));
  const others = othersBeside(time, table);
  const many = (pool: Pool) => Promise.all([correctAgain(time, pool, MANY_WORKERS), others.work(pool)]);
  rows.push(await measure(time, `${MANY_WORKERS} workers`, { work: many, runs: MANY_RUNS }));
  const assumed = `a call takes ${CALL_MS} ms, a transaction ${TRANSACTION_MS} ms`;
  report(`Corrections of users of one seller: ${assumed}. Each burst ${RUNS} times.`, rows);
  report(`\nBeside ${MANY_WORKERS} workers, in ${POOL} containers.`, others.rows());
};

const all = <Result>(size: number, work: (index: number) => Promise<Result>): Promise<Result[]> =>
  Promise.all(Array.from({ length: size }, (_, index) => work(index)));

/** The containers of a function, and the corrections of the first seller. */
interface Pool {
  inUse: number;
  most: number;
  /** Requests that a container took, so that the key has used them. */
  taken: number;
  sent: number;
  made: number;
}

/** Corrects a user. Returns whether it was made; if not, it was 503 of the function, or because all containers were in use. */
const correct = async (pool: Pool, sellerId: string, user: number): Promise<boolean> => {
  if (pool.inUse === POOL) return false;
  const target = `/v1/users/${benchUserId((user % USERS) + 1)}`;
  const body = { display_name: `Name ${randomUUID()}` };
  const { event } = received({ method: 'PATCH', target, body, sellerId });
  pool.inUse += 1;
  pool.taken += 1;
  pool.most = Math.max(pool.most, pool.inUse);
  const { statusCode } = await call(handler, event);
  pool.inUse -= 1;
  return statusCode === 200;
};

/** Corrects a user of the first seller. */
const correctOwn = async (pool: Pool, user: number): Promise<void> => {
  pool.sent += 1;
  if (await correct(pool, 'sel_busy', user)) pool.made += 1;
};

const correctAgain = (time: VirtualTime, pool: Pool, workers: number) => {
  const until = pool.taken + PLANS.professional.requestsPerMinute;
  return all(workers, async (user) => {
    while (pool.taken < until) {
      await time.sleep(Math.random() * WORKER_PAUSE_MS);
      await correctOwn(pool, user);
    }
  });
};

interface Corrections {
  readonly work: (pool: Pool) => Promise<unknown>;
  readonly runs: number;
}

const measure = async (time: VirtualTime, corrections: string, { work, runs }: Corrections) => {
  const pool = { inUse: 0, most: 0, taken: 0, sent: 0, made: 0 };
  const startedAt = time.now();
  for (let run = 0; run < runs; run += 1) await time.run(() => work(pool));
  const seconds = (time.now() - startedAt) / 1000;
  return {
    corrections,
    made: figure(pool.made),
    '503s, %': figure((100 * (pool.sent - pool.made)) / pool.sent, 1),
    'a second': figure(pool.made / seconds, 1),
    'most containers': figure(pool.most),
  };
};

/** A buyer ends the link of a user. Returns whether that was done before the deadline of its request. */
const end = async (table: Table, ordinal: number): Promise<boolean> => {
  const ended = { phone: new KeyedHash('bench'), clock: Date.now };
  const removal = { removedAt: new Date().toISOString(), reason: 'buyer', ended } as const;
  const context = { requestId: 'bench', operation: 'end-link', deadline: deadlineIn(END_MS), calls: [] };
  const result = runInRequest(context, () => userRemover(table)('sel_busy', benchUserId(ordinal), removal));
  return (await result.catch(() => undefined)) === 'removed';
};

/** What others do in the time of many workers: each result says whether it was done. */
const othersBeside = (time: VirtualTime, table: Table) => {
  const [corrected, ended]: [boolean[], boolean[]] = [[], []];
  const evenly = (requests: number, send: (index: number) => Promise<boolean>) =>
    all(requests, async (index) => {
      await time.sleep((index * BESIDE_MS) / requests);
      return send(index);
    });
  const row = (beside: string, done: readonly boolean[]) => ({
    beside,
    sent: figure(done.length),
    '503s': figure(done.filter((isDone) => !isDone).length),
  });
  return {
    async work(pool: Pool): Promise<void> {
      const firstToEnd = USERS - ended.length;
      const [corrections, ends] = await Promise.all([
        evenly(OTHER_REQUESTS, (index) => correct(pool, 'sel_other', index)),
        evenly(ENDS, (index) => end(table, firstToEnd - index)),
      ]);
      corrected.push(...corrections);
      ended.push(...ends);
    },
    rows: () => [row('corrections of another seller', corrected), row('ends by buyers of its users', ended)],
  };
};

await main();
