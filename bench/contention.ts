/**
 * `npm run bench:contention` measures links of one seller that compete for the next ordinal, in three ways: creates at once over HTTP
 * on the local service, links at the rate of a professional key on the embedded database with DynamoDB's times and conflicts, and a
 * discrete-event model with the same times for bursts and rates that one machine could not play.
 */
import { PLANS, WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { playLinks } from './contention/model.ts';
import { parallelCreates } from './contention/parallel-creates.ts';
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

/** The times of a Poisson process, in milliseconds. */
const arrivals = (perSecond: number, links: number): number[] => {
  let at = 0;
  return Array.from({ length: links }, () => {
    at += (-Math.log(1 - Math.random()) * 1000) / perSecond;
    return at;
  });
};

const createRow = async (clients: number): Promise<string[]> => {
  const { seconds, transactionsPerSuccess, statuses } = await parallelCreates(clients, REGISTRY_MS);
  const responses = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
  return [
    `${clients} creates at once`,
    figure(seconds, 1),
    figure(transactionsPerSuccess, 2),
    responses.join(', '),
  ];
};

const steadyRow = (name: string, { transactionsPerSuccess, p50Ms, p99Ms }: SteadyLinks): string[] => [
  name,
  figure(transactionsPerSuccess, 2),
  figure(p50Ms),
  figure(p99Ms),
];

/** Plays links in the model. Returns their rate of success per second, and the row. */
const play = async (name: string, starts: readonly number[]) => {
  const { links, succeeded, transactions, seconds } = await playLinks(starts, DEADLINE_MS);
  const perSecond = succeeded / seconds;
  const row = [
    name,
    `${figure((100 * succeeded) / links, 1)} %`,
    figure(transactions / succeeded, 2),
    figure(seconds, 1),
    figure(perSecond, 1),
  ];
  return { perSecond, row };
};

const creates: string[][] = [];
for (const clients of CLIENTS) creates.push(await createRow(clients));
// Read right before the transaction, as the service does, and before the checks.
const fresh = await steadyLinks(arrivals(PLAN_PER_SECOND, STEADY_LINKS), 0);
const old = await steadyLinks(arrivals(PLAN_PER_SECOND, STEADY_LINKS), CHECKS_MS);
const bursts = await Promise.all(
  BURSTS.map((links) => play(`burst of ${figure(links)}`, Array(links).fill(0))),
);
const rates = await Promise.all(
  RATES.map((rate) => play(`${rate.toFixed(1)} a second`, arrivals(rate, Math.round(rate * MODEL_SECONDS)))),
);
const ceiling = Math.max(...rates.map(({ perSecond }) => perSecond));
const plan = PLAN_PER_SECOND.toFixed(1);

report(
  'contention',
  'Links of one seller. "Transactions" are per success.',
  [[`local service, registries of ${REGISTRY_MS} ms`, 'seconds', 'transactions', 'responses'], ...creates],
  [
    [`${plan} links a second, with DynamoDB's times; the count is read`, 'transactions', 'p50 ms', 'p99 ms'],
    steadyRow('right before the transaction', fresh),
    steadyRow('before the checks', old),
  ],
  [
    ['model of DynamoDB', 'succeed', 'transactions', 'seconds', 'links a second'],
    ...[...bursts, ...rates].map(({ row }) => row),
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
