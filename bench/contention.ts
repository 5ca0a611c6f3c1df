/**
 * `npm run bench:contention` measures links of one seller that compete for the next ordinal. About three minutes.
 * 1. Parallel creates over HTTP on the local service, with registries that take 300 ms.
 * 2. Links at the rate of a professional key on the embedded database, with DynamoDB's times and conflicts (contention/dynamodb-times.ts).
 * 3. A discrete-event model with the same times: bursts and steady rates that this machine could not play.
 */
import { startDatabase } from '#local/database.ts';
import { FIXED_ACCESS_KEY_ID, setLocalCredentials } from '#local/environment.ts';
import { ensureTable } from '#local/table.ts';
import { openTable } from '#shared/table/client.ts';
import { BETWEEN_ATTEMPTS } from '#shared/users/user-transaction.ts';
import { type Burst, playLinks } from './contention/model.ts';
import { type ParallelCreates, parallelCreates } from './contention/parallel-creates.ts';
import { type SteadyLinks, steadyLinks } from './contention/steady-links.ts';

const REGISTRY_MS = 300;
const CLIENTS = [10, 50, 300] as const;
/** 1,000 requests a minute. */
const PLAN_PER_SECOND = 1000 / 60;
const STEADY_LINKS = 600;
/** The time of two checks of a registry side by side, with the calls before them. */
const CHECKS_MS = 350;
/** The time limit of create-user without its reserve and its checks. */
const DEADLINE_MS = 20_000 - 500 - CHECKS_MS;
const BURSTS = [50, 300, 1000, 2000] as const;
const RATES = [PLAN_PER_SECOND, 40, 60, 70, 80, 100] as const;
const MODEL_SECONDS = 60;

const row = (cells: readonly (string | number)[]): string =>
  cells
    .map((cell) => (typeof cell === 'number' ? cell.toFixed(2) : cell))
    .map((cell, index) => (index === 0 ? cell.padEnd(34) : cell.padStart(15)))
    .join('');

const print = (...lines: readonly string[]): void => console.log(lines.join('\n'));

const measureCreates = async (): Promise<ParallelCreates[]> => {
  print(`Parallel creates of one seller over HTTP, registries of ${REGISTRY_MS} ms:`);
  print(row(['clients', 'seconds', 'transactions', 'responses']));
  const results: ParallelCreates[] = [];
  for (const clients of CLIENTS) {
    const result = await parallelCreates(clients, REGISTRY_MS);
    const statuses = Object.entries(result.statuses).map(([status, count]) => `${count} x ${status}`);
    print(row([String(clients), result.seconds, result.transactionsPerSuccess, statuses.join(', ')]));
    results.push(result);
  }
  return results;
};

const measureSteady = async (): Promise<readonly [fresh: SteadyLinks, old: SteadyLinks]> => {
  setLocalCredentials();
  const database = await startDatabase({ accessKeyId: FIXED_ACCESS_KEY_ID });
  const table = openTable('bench', database.endpoint);
  await ensureTable(table);
  const load = { perSecond: PLAN_PER_SECOND, links: STEADY_LINKS };
  const fresh = await steadyLinks(table, 'sel_fresh', { ...load, countAgeMs: 0 });
  const old = await steadyLinks(table, 'sel_old', { ...load, countAgeMs: CHECKS_MS });
  table.client.destroy();
  await database.stop();
  print(
    '',
    `${PLAN_PER_SECOND.toFixed(1)} links a second of one seller, with DynamoDB's times and conflicts:`,
  );
  print(row(['the count is read', 'transactions', 'p50 ms', 'p99 ms']));
  print(row(['right before the transaction', fresh.transactionsPerSuccess, fresh.p50Ms, fresh.p99Ms]));
  print(row(['before the checks', old.transactionsPerSuccess, old.p50Ms, old.p99Ms]));
  return [fresh, old];
};

/** Times of a Poisson process, in milliseconds. */
const arrivals = (perSecond: number): number[] => {
  let at = 0;
  return Array.from({ length: Math.round(perSecond * MODEL_SECONDS) }, () => {
    at += (-Math.log(1 - Math.random()) * 1000) / perSecond;
    return at;
  });
};

const play = (starts: readonly number[]): Burst => playLinks(starts, DEADLINE_MS, BETWEEN_ATTEMPTS);

const modelRow = (name: string, { links, succeeded, transactions, seconds }: Burst): string =>
  row([
    name,
    `${((100 * succeeded) / links).toFixed(1)} %`,
    transactions / succeeded,
    seconds,
    succeeded / seconds,
  ]);

/** Prints the model and returns the highest rate at which one seller's links succeeded. */
const model = (): number => {
  print('', 'Discrete-event model of DynamoDB, links of one seller:');
  print(row(['load', 'succeed', 'transactions', 'seconds', 'links/s']));
  for (const links of BURSTS) print(modelRow(`burst of ${links}`, play(Array(links).fill(0))));
  const steady = RATES.map((rate) => ({ rate, result: play(arrivals(rate)) }));
  for (const { rate, result } of steady) print(modelRow(`${rate.toFixed(1)} a second`, result));
  return Math.max(...steady.map(({ result }) => result.succeeded / result.seconds));
};

const creates = await measureCreates();
const [fresh, old] = await measureSteady();
const ceiling = model();
const [few, , many] = creates;
print(
  '',
  'Ratios:',
  row(['old count / fresh count', old.transactionsPerSuccess / fresh.transactionsPerSuccess, 'transactions']),
  row(['old count / fresh count', old.p99Ms / fresh.p99Ms, 'p99']),
  row(['ceiling of one seller / plan', ceiling / PLAN_PER_SECOND, 'links/s']),
  row(['300 at once / 10 at once', (many?.seconds ?? 0) / 30 / (few?.seconds ?? 1), 'time per link']),
);
