import { parseArgs } from 'node:util';
import { handler } from '#functions/list-users.ts';
import { redirectLog } from '#shared/log.ts';
import { userRemover } from '#shared/users/remove-user.ts';
import {
  benchUserId,
  call,
  figure,
  interleave,
  median,
  putSeller,
  received,
  report,
  startBenchDatabase,
} from './harness.ts';

/**
 * `npm run bench:growth` compares the response times of pages of a seller with many users, with and without removals, with those of a
 * seller with 1,000 users. It calls the function in process, on an embedded database. Options: `--largest <users>`, `--rounds <n>`.
 */
const { values } = parseArgs({
  options: {
    largest: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '100' },
  },
});
const [largest, rounds] = [Number(values.largest), Number(values.rounds)];

const SMALL = 1000;
/** Every tenth user is removed. */
const REMOVE_EVERY = 10;
const PAGE_SIZE = 20;

const SUBJECTS = [
  { sellerId: 'sel_small', linked: SMALL, users: SMALL },
  { sellerId: 'sel_large', linked: largest, users: largest },
  { sellerId: 'sel_removals', linked: largest, users: largest - largest / REMOVE_EVERY },
];

type Subject = (typeof SUBJECTS)[number];

/** The query of each page. */
const PAGES: Readonly<Record<string, (subject: Subject) => string>> = {
  'page 1': () => 'page=1',
  'middle page': ({ users }) => `page=${Math.ceil(users / PAGE_SIZE / 2)}`,
  'last page': ({ users }) => `page=${Math.ceil(users / PAGE_SIZE)}`,
  'after the user in the middle': ({ linked }) => `after=${benchUserId(linked / 2)}`,
};

/** Reads a page, which is full, and returns the milliseconds of the response. */
const readPage = async (sellerId: string, query: string): Promise<number> => {
  const target = `/v1/users?${query}&page_size=${PAGE_SIZE}`;
  const { event } = received({ method: 'GET', target, sellerId });
  const startedAt = performance.now();
  const { statusCode, body } = await call(handler, event);
  const ms = performance.now() - startedAt;
  if (statusCode >= 300 || JSON.parse(body).data.length !== PAGE_SIZE) throw new Error(body);
  return ms;
};

await using database = await startBenchDatabase();
redirectLog(() => {});
for (const { sellerId, linked } of SUBJECTS) await putSeller(database.table, sellerId, linked);
const remove = userRemover(database.table);
for (let ordinal = REMOVE_EVERY; ordinal <= largest; ordinal += REMOVE_EVERY) {
  const removal = { removedAt: new Date().toISOString(), reason: 'seller' } as const;
  const result = await remove('sel_removals', benchUserId(ordinal), removal);
  if (result !== 'removed') throw new Error(result);
}

for (let warm = 0; warm < PAGE_SIZE; warm += 1) await readPage('sel_small', 'page=1');
const rows: Readonly<Record<string, string>>[] = [];
for (const [page, queryOf] of Object.entries(PAGES)) {
  const times = await interleave(SUBJECTS, rounds, (subject) => readPage(subject.sellerId, queryOf(subject)));
  const [small = 0, large = 0, removals = 0] = [...times.values()].map(median);
  rows.push({
    page,
    [`${figure(largest)} users`]: figure(large / small, 2),
    [`${figure(largest / REMOVE_EVERY)} of them removed`]: figure(removals / small, 2),
  });
}
const title = `Medians of ${rounds} requests each, in turns, as ratios to a seller with ${figure(SMALL)} users; one embedded database holds all sellers.`;
report(title, rows);
