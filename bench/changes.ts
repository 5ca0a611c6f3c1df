import { handler } from '#functions/update-user.ts';
import { STAGES } from '#lib/stages.ts';
import { redirectLog } from '#shared/log.ts';
import { benchUserId, call, figure, putSeller, received, report, startBenchDatabase } from './harness.ts';
import { startVirtualTime, type VirtualTime } from './virtual-time.ts';

/**
 * `npm run bench:changes` corrects users of one seller at the same time, by the deployed code, in virtual time. Those of a burst send once, at
 * the same time; workers send again when they have the response. At a rate, requests are sent whatever becomes of those before, and another
 * seller sends beside them: like Lambda, the reserved concurrency of prod refuses what exceeds it.
 */
const BURSTS = [20, 100, 400];
const RUNS = 3;
const WORKERS = 8;
const WORKERS_MS = 5000;
/** Requests a second of one seller. */
const RATES = [84, 134];
const RATE_SECONDS = 15;
/** Until then the waits of the first seller have become as long as they will be. */
const OTHER_AFTER_SECONDS = 5;
const OTHER_REQUESTS = 100;
const POOL = STAGES.prod.reservedConcurrency.functions['update-user'];
/** Each client has a user of its own. */
const USERS = 400;

/** The time of a call, in milliseconds: assumed, with that of the function around it. */
const CALL_MS = 8;
const TRANSACTION_MS = 16;

const main = async (): Promise<void> => {
  await using database = await startBenchDatabase();
  redirectLog((line) => {
    const fields = JSON.parse(line);
    if (fields.event === 'request_completed') completed.push(fields);
  });
  for (const seller of ['busy', 'other']) await putSeller(database.table, `sel_${seller}`, USERS);
  const time = startVirtualTime((command) => (command === 'TransactWriteCommand' ? TRANSACTION_MS : CALL_MS));

  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  for (const size of BURSTS) rows.push(await measure(time, `${size} at once`, { clients: size, runs: RUNS }));
  rows.push(await measure(time, `${WORKERS} workers`, { clients: WORKERS, ms: WORKERS_MS }));
  const assumed = `a call takes ${CALL_MS} ms, a transaction ${TRANSACTION_MS} ms`;
  report(
    `Corrections of users of one seller: ${assumed}. Each burst ${RUNS} times; function-seconds of one.`,
    rows,
  );

  const besides: Awaited<ReturnType<typeof measureBeside>>[] = [];
  for (const rate of RATES) besides.push(await measureBeside(time, rate));
  report(`\n${OTHER_REQUESTS} corrections of another seller beside them, in ${POOL} containers.`, besides);
};

/** The completion lines of the requests. */
const completed: { readonly status: number; readonly duration_ms: number; readonly calls: string }[] = [];

let sent = 0;

/** Corrects a user, and returns the status. */
const correct = async (sellerId: string, user: number): Promise<number> => {
  sent += 1;
  const target = `/v1/users/${benchUserId((user % USERS) + 1)}`;
  const body = { display_name: `Name ${sent}` };
  // A new key for each 500 requests stays within its rate limit.
  const keyId = `key_${Math.floor(sent / 500)}`;
  const { event } = received({ method: 'PATCH', target, body, sellerId, keyId });
  return (await call(handler, event)).statusCode;
};

interface Corrections {
  readonly clients: number;
  readonly runs?: number;
  /** For how long each client sends again. */
  readonly ms?: number;
}

const measure = async (
  time: VirtualTime,
  corrections: string,
  { clients, runs = 1, ms = 0 }: Corrections,
) => {
  completed.length = 0;
  const startedAt = time.now();
  const work = async (user: number): Promise<void> => {
    const until = time.now() + ms;
    do await correct('sel_busy', user);
    while (time.now() < until);
  };
  for (let run = 0; run < runs; run += 1) {
    await time.run(() => Promise.all(Array.from({ length: clients }, (_, user) => work(user))));
  }
  const seconds = (time.now() - startedAt) / 1000;
  const made = completed.filter(({ status }) => status === 200).length;
  const transactions = completed.flatMap(({ calls }) => calls.match(/TransactWrite/g) ?? []).length;
  const functionMs = completed.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  return {
    corrections,
    made: figure(made),
    '503s': figure(completed.length - made),
    'transactions each': figure(transactions / completed.length, 1),
    'function-seconds': figure(functionMs / 1000 / runs, 1),
    'a second': figure(made / seconds, 1),
  };
};

/** The containers of a function. */
interface Pool {
  inUse: number;
  most: number;
}

interface Stream {
  readonly sellerId: string;
  readonly requests: number;
  readonly seconds: number;
}

/** Sends requests evenly over a time. Returns how many got 503: of the function, or because all containers were in use. */
const sendEvenly = async (
  time: VirtualTime,
  pool: Pool,
  { sellerId, requests, seconds }: Stream,
): Promise<number> => {
  const send = async (_: unknown, index: number): Promise<boolean> => {
    await time.sleep((index * seconds * 1000) / requests);
    if (pool.inUse === POOL) return true;
    pool.inUse += 1;
    pool.most = Math.max(pool.most, pool.inUse);
    const status = await correct(sellerId, index);
    pool.inUse -= 1;
    return status === 503;
  };
  const refused = await Promise.all(Array.from({ length: requests }, send));
  return refused.filter(Boolean).length;
};

const measureBeside = async (time: VirtualTime, rate: number) => {
  const pool = { inUse: 0, most: 0 };
  const requests = rate * RATE_SECONDS;
  const [own, other] = await time.run(() =>
    Promise.all([
      sendEvenly(time, pool, { sellerId: 'sel_busy', requests, seconds: RATE_SECONDS }),
      time.sleep(OTHER_AFTER_SECONDS * 1000).then(() =>
        sendEvenly(time, pool, {
          sellerId: 'sel_other',
          requests: OTHER_REQUESTS,
          seconds: RATE_SECONDS - OTHER_AFTER_SECONDS,
        }),
      ),
    ]),
  );
  return {
    'one seller corrects': `${rate} a second`,
    'its 503s, %': figure((100 * own) / requests),
    'most containers': figure(pool.most),
    '503s of the other': figure(other),
  };
};

await main();
