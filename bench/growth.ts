import { redirectLog } from '#shared/log.ts';
import { benchUserId, CONTEXT, eventOf, type Handler, startBenchDatabase, VARIABLES } from './harness.ts';
import { figure, interleave, median, numberOption, ratio, report } from './report.ts';

/**
 * `npm run bench:growth` compares the response times of pages of a seller with many users, with and without removals, with those of a
 * seller with 1,000 users. It calls the function in process, on an embedded database. Options: `--largest <users>`, `--rounds <n>`.
 */
const SMALL = 1000;
const LARGE = numberOption('largest', 100_000);
const REMOVE_EVERY = 10;
const rounds = numberOption('rounds', 100);
const PAGE_SIZE = 20;

interface Subject {
  readonly sellerId: string;
  /** How many users it linked, and how many of them it still has. */
  readonly linked: number;
  readonly users: number;
  readonly removeEvery?: number;
}

const SUBJECTS: readonly Subject[] = [
  { sellerId: 'sel_small', linked: SMALL, users: SMALL },
  { sellerId: 'sel_large', linked: LARGE, users: LARGE },
  { sellerId: 'sel_removals', linked: LARGE, users: LARGE - LARGE / REMOVE_EVERY, removeEvery: REMOVE_EVERY },
];

/** The query of each page. */
const PAGES: Readonly<Record<string, (subject: Subject) => string>> = {
  'page 1': () => 'page=1',
  'middle page': ({ users }) => `page=${Math.ceil(users / PAGE_SIZE / 2)}`,
  'last page': ({ users }) => `page=${Math.ceil(users / PAGE_SIZE)}`,
  'after the user in the middle': ({ linked }) => `after=${benchUserId(linked / 2)}`,
};

const database = await startBenchDatabase();
redirectLog(() => {});
Object.assign(process.env, VARIABLES, { DYNAMODB_ENDPOINT: database.url });
// It reads the variables.
const { handler } = await import('#functions/list-users.ts');

let sent = 0;
/** Reads a page, which is full, and returns the milliseconds of the response. */
const readPage = async ({ sellerId }: Subject, query: string): Promise<number> => {
  sent += 1;
  // A new key for each hundred requests stays within its rate limit.
  const sender = { sellerId, keyId: `key_${Math.floor(sent / 100)}` };
  const event = eventOf({ method: 'GET', target: `/v1/users?${query}&page_size=${PAGE_SIZE}` }, sender);
  const startedAt = performance.now();
  const { statusCode, body } = await (handler as unknown as Handler)(event, CONTEXT);
  const ms = performance.now() - startedAt;
  if (statusCode >= 300 || JSON.parse(body).data.length !== PAGE_SIZE) throw new Error(body);
  return ms;
};

try {
  for (const { sellerId, ...users } of SUBJECTS) await database.addSeller(sellerId, users);
  for (let warm = 0; warm < PAGE_SIZE; warm += 1) await readPage(SUBJECTS[0] as Subject, 'page=1');
  const reads = Object.values(PAGES).flatMap((queryOf) =>
    SUBJECTS.map((subject) => [subject, queryOf(subject)] as const),
  );
  const times = await interleave(reads, rounds, ([subject, query]) => readPage(subject, query));
  const medians = [...times.values()].map(median);
  report(
    `Medians of ${rounds} requests each, in turns, as ratios to a seller with ${figure(SMALL)} users; one embedded database holds all sellers.`,
    [
      ['page', `${figure(LARGE)} users`, `${figure(LARGE / REMOVE_EVERY)} of them removed`],
      ...Object.keys(PAGES).map((name) => {
        const [small = 0, ...larger] = medians.splice(0, SUBJECTS.length);
        return [name, ...larger.map((ms) => ratio(ms, small))];
      }),
    ],
  );
} finally {
  await database.stop();
}
