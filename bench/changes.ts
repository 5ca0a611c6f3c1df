import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { pipeline, Transform } from 'node:stream';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { handler } from '#functions/update-user.ts';
import { redirectLog } from '#shared/log.ts';
import { benchUserId, call, figure, putSeller, received, report, startBenchDatabase } from './harness.ts';

/**
 * `npm run bench:changes` corrects users of one seller at the same time, by the deployed code in one process, with the table 8 ms away.
 * Each client has a user of its own. Those of a burst send once, at the same time; workers send again when they have the response.
 */
const BURSTS = [20, 100, 400];
const RUNS = 3;
const WORKERS = 8;
const WORKERS_MS = 5000;

const main = async (): Promise<void> => {
  await using database = await startBenchDatabase();
  // In the thread of the clients the delay would grow with their work.
  const distance = new Worker(new URL(import.meta.url), { workerData: database.endpoint });
  const [endpoint] = await once(distance, 'message');
  distance.unref();
  process.env.DYNAMODB_ENDPOINT = endpoint;
  redirectLog((line) => {
    const fields = JSON.parse(line);
    if (fields.event === 'request_completed') completed.push(fields);
  });
  for (const users of [...BURSTS, WORKERS]) await putSeller(database.table, `sel_${users}`, users);

  const work = () => correctUsers(WORKERS, WORKERS_MS);
  // One process runs all functions here: in code that is not compiled yet they would wait for each other's CPU.
  await work();
  const rows: Awaited<ReturnType<typeof measure>>[] = [];
  for (const size of BURSTS) rows.push(await measure(`${size} at once`, RUNS, () => correctUsers(size)));
  rows.push(await measure(`${WORKERS} workers`, 1, work));
  const title = `Corrections of users of one seller, by one process, with the table 8 ms away. Each burst ${RUNS} times; function-seconds of one.`;
  report(title, rows);
};

/** The completion lines of the requests. */
const completed: { readonly status: number; readonly duration_ms: number; readonly calls: string }[] = [];

let sent = 0;

/** Corrects a user by each of `clients` at the same time, again and again for `ms`. */
const correctUsers = async (clients: number, ms = 0): Promise<void> => {
  const until = performance.now() + ms;
  const correct = async (_: unknown, index: number): Promise<void> => {
    do {
      sent += 1;
      const target = `/v1/users/${benchUserId(index + 1)}`;
      const body = { display_name: `Name ${sent}` };
      // A new key for each 500 requests stays within its rate limit.
      const caller = { sellerId: `sel_${clients}`, keyId: `key_${Math.floor(sent / 500)}` };
      await call(handler, received({ method: 'PATCH', target, body, ...caller }).event);
    } while (performance.now() < until);
  };
  await Promise.all(Array.from({ length: clients }, correct));
};

const measure = async (corrections: string, runs: number, run: () => Promise<void>) => {
  completed.length = 0;
  const startedAt = performance.now();
  for (let ran = 0; ran < runs; ran += 1) await run();
  const seconds = (performance.now() - startedAt) / 1000;
  const made = completed.filter(({ status }) => status === 200).length;
  const transactions = completed.flatMap(({ calls }) => calls.match(/TransactWrite/g) ?? []).length;
  const functionMs = completed.reduce((sum, { duration_ms }) => sum + duration_ms, 0);
  return {
    corrections,
    made: figure(made),
    '503s': figure(completed.length - made),
    'transactions each': figure(transactions / completed.length, 1),
    'function-seconds': figure(functionMs / 1000 / runs, 1),
    'a second': figure(made / seconds, 1),
  };
};

/** A request and its response. A timer is late by 0.6 ms in the mean: together they take 8 ms. */
const [REQUEST_MS, RESPONSE_MS] = [4, 3];

const delay = (ms: number) =>
  new Transform({
    transform(chunk, _, done) {
      setTimeout(() => this.push(chunk), ms);
      done();
    },
  });

/** Passes connections on to a server on this machine as if it were 8 ms away, and posts the endpoint for that. */
const serveFromADistance = async (endpoint: string): Promise<void> => {
  const { hostname: host, port } = new URL(endpoint);
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host, port: Number(port), noDelay: true });
    pipeline(client, delay(REQUEST_MS), upstream, delay(RESPONSE_MS), client, () => {});
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  parentPort?.postMessage(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
};

await (isMainThread ? main() : serveFromADistance(workerData));
