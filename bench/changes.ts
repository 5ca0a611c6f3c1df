import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { redirectLog } from '#shared/log.ts';
import { benchUserId, startBenchDatabase } from './harness/database.ts';
import { eventOf } from './harness/operations.ts';
import { type Handler, VARIABLES } from './harness/recording.ts';
import { figure, report } from './harness/report.ts';

/**
 * `npm run bench:changes` corrects users of one seller at the same time, by the deployed code in one process, with the table 8 ms away.
 * A burst sends all requests at once; workers send the next request when they have the response.
 */
const ONE_WAY_MS = 4;
const BURSTS = [20, 100, 400] as const;
const WORKERS = 8;
const WORKERS_MS = 5000;
const CONTEXT = { getRemainingTimeInMillis: () => 12_000 };

const delayed = (from: Socket, to: Socket) => {
  from.on('data', (chunk) => setTimeout(() => to.write(chunk), ONE_WAY_MS));
  from.on('close', () => to.destroy());
  from.on('error', () => to.destroy());
};

const database = await startBenchDatabase();
const { hostname, port } = new URL(database.url);
const proxy = createServer({ noDelay: true }, (client) => {
  const server = connect({ port: Number(port), host: hostname, noDelay: true });
  delayed(client, server);
  delayed(server, client);
}).listen(0, '127.0.0.1');
await once(proxy, 'listening');
const { port: proxyPort } = proxy.address() as { port: number };

const lines: { readonly status: number; readonly duration_ms: number; readonly calls: string }[] = [];
redirectLog((line) => {
  const fields = JSON.parse(line);
  if (fields.event === 'request_completed') lines.push(fields);
});
Object.assign(process.env, VARIABLES, { DYNAMODB_ENDPOINT: `http://127.0.0.1:${proxyPort}` });
// It reads the variables.
const { handler } = await import('#functions/update-user.ts');

let sent = 0;
const correct = async (sellerId: string, ordinal: number): Promise<void> => {
  sent += 1;
  const sender = { sellerId, keyId: `key_${Math.floor(sent / 500)}` };
  const body = { display_name: `Name ${sent}` };
  const event = eventOf('PATCH', `/v1/users/${benchUserId(ordinal)}`, sender, body);
  await (handler as unknown as Handler)(event, CONTEXT);
};

const measured = async (title: string, run: () => Promise<unknown>): Promise<readonly string[]> => {
  lines.length = 0;
  const startedAt = performance.now();
  await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const made = lines.filter(({ status }) => status === 200).length;
  const transactions = lines.reduce((sum, { calls }) => sum + calls.split('TransactWrite').length - 1, 0);
  const functionSeconds = lines.reduce((sum, { duration_ms }) => sum + duration_ms, 0) / 1000;
  const figures = [transactions / lines.length, functionSeconds, made / seconds];
  return [title, figure(made), figure(lines.length - made), ...figures.map((value) => figure(value, 1))];
};

try {
  const rows: (readonly string[])[] = [];
  for (const size of BURSTS) {
    const sellerId = `sel_${size}`;
    await database.addSeller(sellerId, { linked: size });
    for (let warm = 0; warm < 20; warm += 1) await correct(sellerId, 1);
    const all = Array.from({ length: size }, (_, index) => index + 1);
    rows.push(await measured(`${size} at once`, () => Promise.all(all.map((n) => correct(sellerId, n)))));
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
  proxy.close();
  await database.stop();
  process.exit();
}
