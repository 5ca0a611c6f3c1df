/**
 * `npm run bench:contention` measures links of one seller that compete for the next ordinal, in two ways: creates at once over HTTP on
 * the local service, and a discrete-event model with DynamoDB's times and conflicts, for bursts and rates that one machine could not play.
 */
import { PLANS, WINDOW_SECONDS } from '#shared/rate-limits/plans.ts';
import { type Played, playLinks } from './contention/model.ts';
import { parallelCreates } from './contention/parallel-creates.ts';
import { figure, quantile, ratio, report } from './harness/report.ts';

const REGISTRY_MS = 300;
const CLIENTS = [10, 50, 300] as const;
const PLAN_PER_SECOND = PLANS.professional.requestsPerMinute / WINDOW_SECONDS;
/** The time of two checks of a registry side by side, with the calls before them. */
const CHECKS_MS = 350;
/** The time limit of create-user without its reserve and its checks. */
const deadlineMs = 20_000 - 500 - CHECKS_MS;
const BURSTS = [50, 300, 1000, 2000] as const;
const RATES = [PLAN_PER_SECOND, 40, 60, 80, 100] as const;
const MODEL_SECONDS = 60;

/** The times of a Poisson process, in milliseconds. */
const arrivals = (perSecond: number): number[] => {
  let at = 0;
  return Array.from({ length: Math.round(perSecond * MODEL_SECONDS) }, () => {
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

const perSecond = ({ succeeded, seconds }: Played): number => succeeded / seconds;
const perSuccess = ({ transactions, succeeded }: Played): number => transactions / succeeded;
const p99 = ({ timesMs }: Played): number => quantile(timesMs, 0.99);

const modelRow = (name: string, played: Played): string[] => [
  name,
  `${figure((100 * played.succeeded) / played.links, 1)} %`,
  figure(perSuccess(played), 2),
  figure(played.seconds, 1),
  figure(perSecond(played), 1),
];

const countRow = (name: string, played: Played): string[] => [
  name,
  figure(perSuccess(played), 2),
  figure(quantile(played.timesMs, 0.5)),
  figure(p99(played)),
];

const creates: string[][] = [];
for (const clients of CLIENTS) creates.push(await createRow(clients));
const modelRows: string[][] = [];
for (const links of BURSTS) {
  const played = await playLinks(Array(links).fill(0), { deadlineMs });
  modelRows.push(modelRow(`burst of ${figure(links)}`, played));
}
let ceiling = 0;
for (const rate of RATES) {
  const played = await playLinks(arrivals(rate), { deadlineMs });
  modelRows.push(modelRow(`${rate.toFixed(1)} a second`, played));
  ceiling = Math.max(ceiling, perSecond(played));
}
const starts = arrivals(PLAN_PER_SECOND);
const fresh = await playLinks(starts, { deadlineMs });
const old = await playLinks(starts, { deadlineMs, countAgeMs: CHECKS_MS });

report(
  'contention',
  'Links of one seller. "Transactions" are per success.',
  [[`local service, registries of ${REGISTRY_MS} ms`, 'seconds', 'transactions', 'responses'], ...creates],
  [['model of DynamoDB', 'succeed', 'transactions', 'seconds', 'links a second'], ...modelRows],
  [
    [`model, ${PLAN_PER_SECOND.toFixed(1)} a second; the count is read`, 'transactions', 'p50 ms', 'p99 ms'],
    countRow('right before the transaction', fresh),
    countRow('before the checks', old),
  ],
  [
    ['ratio', '×'],
    ['transactions: old count ÷ fresh count', ratio(perSuccess(old), perSuccess(fresh))],
    ['p99: old count ÷ fresh count', ratio(p99(old), p99(fresh))],
    ['ceiling of one seller ÷ rate of a professional key', ratio(ceiling, PLAN_PER_SECOND)],
  ],
);
