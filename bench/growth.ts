import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newDemoPerson } from '#local/demo/people.ts';
import { startSimulators } from '#local/simulators/server.ts';
import { redirectLog } from '#shared/log.ts';
import { HASH_SECRET, startBenchDatabase } from './harness/database.ts';
import { importSellers } from './harness/import-sellers.ts';
import { eventOf } from './harness/operations.ts';
import { svgOf } from './harness/plot.ts';
import { CONTEXT, type Handler, VARIABLES } from './harness/recording.ts';
import { figure, interleave, median, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:growth` compares the response times of sellers with 1,000, 100,000 and 1,000,000 users: of the first, the middle and the
 * last page and of a new link; and those of another seller while the largest one is busy. It imports the users as an export of DynamoDB
 * into an embedded database and calls the functions in process. Options: `--largest <users>`, `--rounds <n>`.
 */
const SIZES = [1000, 100_000, Number(option('largest') ?? 1_000_000)];
const ROUNDS = Number(option('rounds') ?? 100);
const PAGE_SIZE = 20;
const OTHER = { sellerId: 'sel_other', users: 1000 };
/** The plot leaves this row out: its times are those of a busy service. */
const ANOTHER = 'another seller meanwhile, page 1';
/** The requests of the seller that is busy meanwhile. */
const BUSY_REQUESTS = 4;

const sellerOf = (users: number): string => `sel_${users}`;

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-growth-'));
const sellers = new Map(SIZES.map((users) => [sellerOf(users), users]));
const file = await importSellers(folder, sellers.set(OTHER.sellerId, OTHER.users));
const [database, simulators] = await Promise.all([startBenchDatabase(file), startSimulators()]);
redirectLog(() => {});
const secrets = { HASH_SECRET, PROVIDER_SECRET: JSON.stringify(simulators.providerSecret) };
Object.assign(process.env, VARIABLES, { DYNAMODB_ENDPOINT: database.url });
for (const [name, secret] of Object.entries(secrets)) {
  await writeFile(join(folder, name), secret);
  process.env[name] = `file:${join(folder, name)}`;
}
// They read the variables.
const functions = await Promise.all([
  import('#functions/list-users.ts'),
  import('#functions/create-user.ts'),
]);
const [list, create] = functions.map(({ handler }) => handler as unknown as Handler) as [Handler, Handler];

/** Calls a function and returns the milliseconds of the response. */
const timed = async (handler: Handler, event: object): Promise<number> => {
  const startedAt = performance.now();
  const { statusCode, body } = await handler(event, CONTEXT);
  const ms = performance.now() - startedAt;
  if (statusCode >= 300) throw new Error(body);
  return ms;
};

let sent = 0;
/** A new key for each hundred requests stays within its rate limit. */
const sender = (sellerId: string) => {
  sent += 1;
  return { sellerId, keyId: `key_${Math.floor(sent / 100)}` };
};

const page = (sellerId: string, number: number): Promise<number> =>
  timed(list, eventOf('GET', `/v1/users?page=${number}&page_size=${PAGE_SIZE}`, sender(sellerId)));

/** The requests to time, by the number of users of the seller. */
const REQUESTS: Readonly<Record<string, (users: number) => Promise<number>>> = {
  'page 1': (users) => page(sellerOf(users), 1),
  'middle page': (users) => page(sellerOf(users), users / PAGE_SIZE / 2),
  'last page': (users) => page(sellerOf(users), users / PAGE_SIZE),
  async 'new link'(users) {
    const person = newDemoPerson();
    await database.registerBuyer(person.phone);
    return timed(create, eventOf('POST', '/v1/users', sender(sellerOf(users)), person));
  },
  async [ANOTHER](users) {
    const busy = Array.from({ length: BUSY_REQUESTS }, () => page(sellerOf(users), users / PAGE_SIZE));
    const [ms] = await Promise.all([page(OTHER.sellerId, 1), ...busy]);
    return ms;
  },
};

/** Times each request for each size in turns. Returns the times by request, one list per size. */
const measure = async (): Promise<[name: string, timesBySize: number[][]][]> => {
  const subjects = Object.values(REQUESTS).flatMap((request) => SIZES.map((users) => () => request(users)));
  const times = [...(await interleave(subjects, ROUNDS, (request) => request())).values()];
  return Object.keys(REQUESTS).map((name) => [name, times.splice(0, SIZES.length)]);
};

const points = SIZES.map((users) => figure(users));

const writePlot = async (rows: readonly [string, number[][]][]): Promise<void> => {
  const medians = rows.filter(([name]) => name !== ANOTHER).map(([name, times]) => [name, times.map(median)]);
  const plot = {
    title: 'Response time by users of the seller',
    unit: 'median ms',
    points,
    series: Object.fromEntries(medians),
  };
  await writeFile(new URL('../docs/growth.svg', import.meta.url), svgOf(plot));
};

try {
  for (const request of Object.values(REQUESTS)) await request(SIZES[0] as number);
  const rows = await measure();
  if (process.argv.includes('--write')) await writePlot(rows);
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
      ...rows.map(([name, times]) => [
        name,
        ...times.map((all) => median(all).toFixed(2)),
        ...times.map((all) => quantile(all, 0.99).toFixed(2)),
        ratio(median(times.at(-1) ?? []), median(times[0] ?? [])),
      ]),
    ],
  );
} finally {
  await simulators.close();
  await database.stop();
  await rm(folder, { recursive: true, force: true });
}
