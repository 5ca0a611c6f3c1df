/**
 * `npm run bench:contention` measures links of one seller that compete for the next ordinal, in three ways: creates at once over HTTP
 * on the local service, links at the rate of a professional key on the embedded database with DynamoDB's times and conflicts, and a
 * discrete-event model with the same times for bursts and rates that one machine could not play.
 */
import { startDatabase } from '#local/database.ts';
import { FIXED_ACCESS_KEY_ID, setLocalCredentials } from '#local/environment.ts';
import { ensureTable } from '#local/table.ts';
import { PLANS, WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { BETWEEN_ATTEMPTS } from '#shared/table/backoff.ts';
import { openTable } from '#shared/table/client.ts';
import { type Burst, playLinks } from './contention/model.ts';
import { type ParallelCreates, parallelCreates } from './contention/parallel-creates.ts';
import { type SteadyLinks, steadyLinks } from './contention/steady-links.ts';
import { figure, ratio, report } from './harness/report.ts';

const REGISTRY_MS = 300;
const CLIENTS = [10, 50, 300] as const;
const PLAN_PER_SECOND = PLANS.professional.requestsPerMinute / WINDOW_SECONDS;
const STEADY_LINKS = 600;
/** The time of two checks of a registry side by side, with the calls before them. */
const CHECKS_MS = 350;
/** The time limit of create-user without its reserve and its checks. */
const DEADLINE_MS = 20_000 - 500 - CHECKS_MS;
const BURSTS = [50, 300, 1000, 2000] as const;
const RATES = [PLAN_PER_SECOND, 40, 60, 80, 100] as const;
const MODEL_SECONDS = 60;

const measureCreates = async (): Promise<ParallelCreates[]> => {
  const results: ParallelCreates[] = [];
  for (const clients of CLIENTS) results.push(await parallelCreates(clients, REGISTRY_MS));
  return results;
};

const createRow = ({ clients, seconds, transactionsPerSuccess, statuses }: ParallelCreates): string[] => [
  `${clients} creates at once`,
  figure(seconds, 1),
  figure(transactionsPerSuccess, 2),
  Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', '),
];

/** Links with the count read right before the transaction, as the service does, and with one as old as the checks. */
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
  return [fresh, old];
};

const steadyRow = (name: string, { transactionsPerSuccess, p50Ms, p99Ms }: SteadyLinks): string[] => [
  name,
  figure(transactionsPerSuccess, 2),
  figure(p50Ms),
  figure(p99Ms),
];

/** Times of a Poisson process, in milliseconds. */
const arrivals = (perSecond: number): number[] => {
  let at = 0;
  return Array.from({ length: Math.round(perSecond * MODEL_SECONDS) }, () => {
    at += (-Math.log(1 - Math.random()) * 1000) / perSecond;
    return at;
  });
};

const play = (starts: readonly number[]): Burst => playLinks(starts, DEADLINE_MS, BETWEEN_ATTEMPTS);

const modelRow = (name: string, { links, succeeded, transactions, seconds }: Burst): string[] => [
  name,
  `${figure((100 * succeeded) / links, 1)} %`,
  figure(transactions / succeeded, 2),
  figure(seconds, 1),
  figure(succeeded / seconds, 1),
];

const creates = await measureCreates();
const [fresh, old] = await measureSteady();
const bursts = BURSTS.map((links) => ({ links, result: play(Array(links).fill(0)) }));
const steady = RATES.map((rate) => ({ rate, result: play(arrivals(rate)) }));
const ceiling = Math.max(...steady.map(({ result }) => result.succeeded / result.seconds));
const plan = PLAN_PER_SECOND.toFixed(1);

report(
  'contention',
  'Links of one seller. "Transactions" are per success.',
  [
    [`local service, registries of ${REGISTRY_MS} ms`, 'seconds', 'transactions', 'responses'],
    ...creates.map(createRow),
  ],
  [
    [`${plan} links a second, with DynamoDB's times; the count is read`, 'transactions', 'p50 ms', 'p99 ms'],
    steadyRow('right before the transaction', fresh),
    steadyRow('before the checks', old),
  ],
  [
    ['model of DynamoDB', 'succeed', 'transactions', 'seconds', 'links a second'],
    ...bursts.map(({ links, result }) => modelRow(`burst of ${figure(links)}`, result)),
    ...steady.map(({ rate, result }) => modelRow(`${rate.toFixed(1)} a second`, result)),
  ],
  [
    ['ratio', '×'],
    [
      'transactions: old count ÷ fresh count',
      ratio(old.transactionsPerSuccess, fresh.transactionsPerSuccess),
    ],
    ['p99: old count ÷ fresh count', ratio(old.p99Ms, fresh.p99Ms)],
    ['ceiling of one seller ÷ rate of a professional key', ratio(ceiling, PLAN_PER_SECOND)],
  ],
);
