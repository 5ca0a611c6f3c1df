import { redirectLog } from '#shared/log.ts';
import { benchUserId, startBenchDatabase } from './harness/database.ts';
import { distant } from './harness/distance.ts';
import { eventOf } from './harness/operations.ts';
import { CONTEXT, type Handler, VARIABLES } from './harness/recording.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:changes` corrects users of one seller at the same time, by the deployed code in one process, with the table 8 ms away.
 * A burst sends all requests at once; workers send the next request when they have the response.
 */
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
  const path = `/v1/users/${benchUserId(ordinal)}`;
  const event = eventOf('PATCH', path, sender, { display_name: `Name ${sent}` });
  await (handler as unknown as Handler)(event, CONTEXT);
};

const measured = async (title: string, run: () => Promise<unknown>): Promise<readonly string[]> => {
  lines.length = 0;
  const startedAt = performance.now();
  await run();
  const made = lines.filter(({ status }) => status === 200).length;
  const transactions = lines.reduce((sum, { calls }) => sum + calls.split('TransactWrite').length - 1, 0);
  const durations = lines.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  const perSecond = (made * 1000) / (performance.now() - startedAt);
  const figures = [transactions / lines.length, durations / 1000, perSecond];
  return [title, figure(made), figure(lines.length - made), ...figures.map((value) => figure(value, 1))];
};

try {
  const rows: (readonly string[])[] = [];
  for (const size of [20, 100, 400]) {
    const sellerId = `sel_${size}`;
    await database.addSeller(sellerId, { linked: size });
    for (let warm = 0; warm < 20; warm += 1) await correct(sellerId, 1);
    const burst = Array.from({ length: size }, (_, index) => () => correct(sellerId, index + 1));
    rows.push(await measured(`${size} at once`, () => Promise.all(burst.map((send) => send()))));
  }
  const until = performance.now() + WORKERS_MS;
  const work = async (_: unknown, worker: number) => {
    while (performance.now() < until) await correct('sel_20', worker + 1);
  };
  rows.push(await measured(`${WORKERS} workers`, () => Promise.all(Array.from({ length: WORKERS }, work))));
  report('changes', 'Corrections of users of one seller, by one process, with the table 8 ms away.', [
    ['corrections', 'made', '503', 'transactions each', 'function-seconds', 'a second'],
    ...rows,
  ]);
} finally {
  await database.stop();
  process.exit();
}
