import { redirectLog } from '#shared/log.ts';
import { startBenchDatabase } from './harness/database.ts';
import { eventOf } from './harness/operations.ts';
import { CONTEXT, type Handler, VARIABLES } from './harness/recording.ts';
import { figure, interleave, median, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:growth` compares the response times of the first, the middle and the last page of sellers with 1,000, 10,000 and 100,000
 * users. It calls the function in process, on an embedded database. Options: `--largest <users>`, `--rounds <n>`.
 */
const SIZES = [1000, 10_000, Number(option('largest') ?? 100_000)];
const rounds = Number(option('rounds') ?? 100);
const PAGE_SIZE = 20;

/** The page to read, by the number of users of the seller. */
const PAGES: Readonly<Record<string, (users: number) => number>> = {
  'page 1': () => 1,
  'middle page': (users) => users / PAGE_SIZE / 2,
  'last page': (users) => users / PAGE_SIZE,
};

const sellerOf = (users: number): string => `sel_${users}`;

const database = await startBenchDatabase();
redirectLog(() => {});
Object.assign(process.env, VARIABLES, { DYNAMODB_ENDPOINT: database.url });
// It reads the variables.
const { handler } = await import('#functions/list-users.ts');

let sent = 0;
/** Reads a page and returns the milliseconds of the response. */
const readPage = async (users: number, page: number): Promise<number> => {
  sent += 1;
  // A new key for each hundred requests stays within its rate limit.
  const sender = { sellerId: sellerOf(users), keyId: `key_${Math.floor(sent / 100)}` };
  const event = eventOf('GET', `/v1/users?page=${page}&page_size=${PAGE_SIZE}`, sender);
  const startedAt = performance.now();
  const { statusCode, body } = await (handler as unknown as Handler)(event, CONTEXT);
  const ms = performance.now() - startedAt;
  if (statusCode >= 300) throw new Error(body);
  return ms;
};

try {
  for (const users of SIZES) await database.addSeller(sellerOf(users), users);
  for (let warm = 0; warm < PAGE_SIZE; warm += 1) await readPage(SIZES[0] as number, 1);
  const subjects = Object.values(PAGES).flatMap((pageOf) =>
    SIZES.map((users) => [users, pageOf(users)] as const),
  );
  const times = [...(await interleave(subjects, rounds, ([users, page]) => readPage(users, page))).values()];
  report(
    'growth',
    `Milliseconds of ${rounds} requests each, in turns; one embedded database holds all sellers.`,
    [
      [
        'users of the seller',
        ...['p50', 'p99'].flatMap((name) => SIZES.map((users) => `${figure(users)}: ${name}`)),
        'largest ÷ smallest',
      ],
      ...Object.keys(PAGES).map((name) => {
        const own = times.splice(0, SIZES.length);
        const figures = [0.5, 0.99].flatMap((share) => own.map((all) => quantile(all, share).toFixed(2)));
        return [name, ...figures, ratio(median(own.at(-1) ?? []), median(own[0] ?? []))];
      }),
    ],
  );
} finally {
  await database.stop();
}
