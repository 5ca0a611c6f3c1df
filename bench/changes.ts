import { redirectLog } from '#shared/log.ts';
import { distant } from './distance.ts';
import { benchUserId, CONTEXT, eventOf, type Handler, startBenchDatabase, VARIABLES } from './harness.ts';
import { figure, report } from './report.ts';

/**
 * `npm run bench:changes` corrects users of one seller at the same time, by the deployed code in one process, with the table 8 ms away.
 * Each client has a user of its own. Those of a burst send once, at the same time; workers send again when they have the response.
 */
const BURSTS = [20, 100, 400];
const RUNS = 3;
const WORKERS = 8;
const WORKERS_MS = 5000;

const database = await startBenchDatabase();

const lines: { readonly status: number; readonly duration_ms: number; readonly calls: string }[] = [];
redirectLog((line) => {
  const fields = JSON.parse(line);
  if (fields.event === 'request_completed') lines.push(fields);
});
Object.assign(process.env, VARIABLES, { DYNAMODB_ENDPOINT: await distant(database.url) });
// It reads the variables.
const { handler } = await import('#functions/update-user.ts');

let sent = 0;
const correct = async (sellerId: string, ordinal: number): Promise<void> => {
  sent += 1;
  const sender = { sellerId, keyId: `key_${Math.floor(sent / 500)}` };
  const target = `/v1/users/${benchUserId(ordinal)}`;
  const event = eventOf({ method: 'PATCH', target, body: { display_name: `Name ${sent}` } }, sender);
  // Each request has a context of its own, as in Lambda: it carries the request's state.
  await (handler as unknown as Handler)(event, { ...CONTEXT });
};

const measured = async (title: string, runs: number, run: () => Promise<unknown>) => {
  lines.length = 0;
  const startedAt = performance.now();
  for (let ran = 0; ran < runs; ran += 1) await run();
  const made = lines.filter(({ status }) => status === 200).length;
  const transactions = lines.reduce((sum, { calls }) => sum + calls.split('TransactWrite').length - 1, 0);
  const durations = lines.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  const perSecond = (made * 1000) / (performance.now() - startedAt);
  const means = [transactions / lines.length, durations / 1000 / runs, perSecond];
  return [title, figure(made), figure(lines.length - made), ...means.map((value) => figure(value, 1))];
};

const clients = (count: number, ms = 0) => {
  const until = performance.now() + ms;
  const client = async (_: unknown, index: number) => {
    do await correct(`sel_${count}`, index + 1);
    while (performance.now() < until);
  };
  return Promise.all(Array.from({ length: count }, client));
};
const work = () => clients(WORKERS, WORKERS_MS);

try {
  for (const linked of [...BURSTS, WORKERS]) await database.addSeller(`sel_${linked}`, { linked });
  // One process runs all functions here: in code that is not compiled yet they would wait for each other's CPU.
  await work();
  const rows: (readonly string[])[] = [];
  for (const size of BURSTS) rows.push(await measured(`${size} at once`, RUNS, () => clients(size)));
  rows.push(await measured(`${WORKERS} workers`, 1, work));
  const head = ['corrections', 'made', '503', 'transactions each', 'function-seconds', 'a second'];
  const text = `Corrections of users of one seller, by one process, with the table 8 ms away. Each burst ${RUNS} times; function-seconds of one.`;
  report(text, [head, ...rows]);
} finally {
  await database.stop();
  process.exit();
}
