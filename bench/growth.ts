import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDemoPerson } from '#local/demo/people.ts';
import { startSimulators } from '#local/simulators/server.ts';
import { redirectLog } from '#shared/log.ts';
import { type BenchDatabase, HASH_SECRET, startBenchDatabase } from './harness/database.ts';
import { importSellers } from './harness/import-sellers.ts';
import { eventOf } from './harness/operations.ts';
import { svgOf } from './harness/plot.ts';
import { CONTEXT, VARIABLES } from './harness/recording.ts';
import { figure, interleave, median, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:growth` compares the response times of sellers with 1,000, 100,000 and 1,000,000 users: of the first, the middle and the
 * last page and of a new link; and those of another seller while the largest one is busy. It imports the users as an export of DynamoDB
 * into an embedded database and calls the functions in process. Options: `--largest <users>`, `--rounds <n>`.
 */
const SIZES = [1000, 100_000, option('largest', 1_000_000)];
const ROUNDS = option('rounds', 100);
const OTHER = 'sel_other';
/** The row of another seller. The plot leaves it out: its times are those of a busy service. */
const ANOTHER = 'another seller meanwhile, page 1';
const OTHER_USERS = 1000;
const PAGE_SIZE = 20;
/** The closed loops that keep the largest seller busy. */
const BUSY_LOOPS = 4;
/** The requests of another seller before the next seller is busy. */
const REQUESTS_PER_TURN = 10;

const sellerOf = (users: number): string => `sel_${users}`;

type Handler = (event: object, context: object) => Promise<{ statusCode: number; body: string }>;

/** Loads the functions and returns the requests to time. Each resolves to its milliseconds. */
const requestsTo = async (database: BenchDatabase) => {
  const [{ handler: list }, { handler: create }] = (await Promise.all([
    import('#functions/list-users.ts'),
    import('#functions/create-user.ts'),
  ])) as unknown as { handler: Handler }[] as [{ handler: Handler }, { handler: Handler }];
  let sent = 0;
  const timed = async (handler: Handler, event: object): Promise<number> => {
    const startedAt = performance.now();
    const { statusCode, body } = await handler(event, CONTEXT);
    const ms = performance.now() - startedAt;
    if (statusCode >= 300) throw new Error(body);
    return ms;
  };
  // A new key for each hundred requests stays within its rate limit.
  const sender = (sellerId: string) => {
    sent += 1;
    return { sellerId, keyId: `key_${Math.floor(sent / 100)}` };
  };
  return {
    page: (sellerId: string, page: number) =>
      timed(list, eventOf('GET', `/v1/users?page=${page}&page_size=${PAGE_SIZE}`, sender(sellerId))),
    async create(sellerId: string): Promise<number> {
      const person = newDemoPerson();
      await database.registerBuyer(person.phone);
      return timed(create, eventOf('POST', '/v1/users', sender(sellerId), person));
    },
  };
};

type Requests = Awaited<ReturnType<typeof requestsTo>>;

/** Times each request of each size in turns. Returns the times by request, one list per size. */
const measureSizes = async ({ page, create }: Requests) => {
  const kinds: Record<string, (users: number) => Promise<number>> = {
    'page 1': (users) => page(sellerOf(users), 1),
    'middle page': (users) => page(sellerOf(users), users / PAGE_SIZE / 2),
    'last page': (users) => page(sellerOf(users), users / PAGE_SIZE),
    'new link': (users) => create(sellerOf(users)),
  };
  const times = Object.fromEntries(Object.keys(kinds).map((kind) => [kind, SIZES.map(() => [] as number[])]));
  const subjects = Object.entries(kinds).flatMap(([kind, run]) =>
    SIZES.map((users, index) => ({ run: () => run(users), into: times[kind]?.[index] as number[] })),
  );
  await interleave(subjects, ROUNDS, async ({ run, into }) => {
    into.push(await run());
  });
  return times;
};

/** Times another seller's first page while a seller of each size, in turns, lists its last page in closed loops. */
const measureOther = async ({ page }: Requests): Promise<number[][]> => {
  const subjects = SIZES.map((users) => ({ users, times: [] as number[] }));
  await interleave(subjects, ROUNDS / REQUESTS_PER_TURN, async ({ users, times }) => {
    let isBusy = true;
    const loops = Array.from({ length: BUSY_LOOPS }, async () => {
      while (isBusy) await page(sellerOf(users), users / PAGE_SIZE);
    });
    for (let n = 0; n < REQUESTS_PER_TURN; n += 1) times.push(await page(OTHER, 1));
    isBusy = false;
    await Promise.all(loops);
  });
  return subjects.map(({ times }) => times);
};

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-growth-'));
const file = await importSellers(
  folder,
  new Map([...SIZES.map((users) => [sellerOf(users), users] as const), [OTHER, OTHER_USERS]]),
);
const [database, simulators] = await Promise.all([startBenchDatabase(file), startSimulators()]);
redirectLog(() => {});
try {
  const secrets = { HASH_SECRET, PROVIDER_SECRET: JSON.stringify(simulators.providerSecret) };
  for (const [name, secret] of Object.entries(secrets)) await writeFile(join(folder, name), secret);
  Object.assign(process.env, VARIABLES, {
    DYNAMODB_ENDPOINT: database.url,
    ...Object.fromEntries(Object.keys(secrets).map((name) => [name, `file:${join(folder, name)}`])),
  });
  const requests = await requestsTo(database);
  await Promise.all(SIZES.map((users) => requests.page(sellerOf(users), 1)));
  const times: Record<string, number[][]> = {
    ...(await measureSizes(requests)),
    [ANOTHER]: await measureOther(requests),
  };
  const points = SIZES.map((users) => figure(users));
  const medians = Object.entries(times).map(([kind, bySize]) => [kind, bySize.map(median)] as const);
  if (process.argv.includes('--write')) {
    const plot = {
      title: 'Response time by users of the seller',
      unit: 'median ms',
      points,
      series: Object.fromEntries(medians.filter(([kind]) => kind !== ANOTHER)),
    };
    await writeFile(new URL('../docs/growth.svg', import.meta.url), svgOf(plot));
  }
  report(
    'growth',
    `Milliseconds of ${ROUNDS} requests each, in turns; one embedded database holds all sellers.`,
    [
      [
        'users of the seller',
        ...points.map((users) => `${users}: p50`),
        ...points.map((users) => `${users}: p99`),
        'largest ÷ smallest',
      ],
      ...medians.map(([kind, values]) => [
        kind,
        ...values.map((value) => value.toFixed(2)),
        ...(times[kind] ?? []).map((all) => quantile(all, 0.99).toFixed(2)),
        ratio(values.at(-1) ?? 0, values[0] ?? 0),
      ]),
    ],
  );
} finally {
  await simulators.close();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
