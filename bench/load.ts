import { newDemoPerson } from '#local/demo/people.ts';
import { type LocalService, startLocalService } from './harness/local-service.ts';
import { figure, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:load` calls the local service over HTTP in closed loops: each client sends its next request when it has its response.
 * Then it keeps 16 clients busy and measures the memory of the service. Options: `--seconds <per row>`, `--minutes <for the memory>`.
 */
const SECONDS = Number(option('seconds') ?? 10);
const MINUTES = Number(option('minutes') ?? 5);
const CLIENTS = [1, 4, 16, 64] as const;
const MEMORY_CLIENTS = 16;
const SELLERS = 8;
/** As many as keep the fastest operation within the rate limit of a key, 1,000 requests per minute. */
const KEYS_PER_SELLER = 8;

type Flow = () => Promise<unknown>;

/** Returns a function that returns the elements in turns. */
const inTurns = <Element>(elements: readonly Element[]) => {
  let next = 0;
  return (): Element => elements[next++ % elements.length] as Element;
};

/** The flows of a client, by name. Each throws if a response is not the expected one. */
const flowsOf = async (service: LocalService): Promise<Readonly<Record<string, Flow>>> => {
  const keys: string[] = [];
  for (let seller = 0; seller < SELLERS; seller += 1) {
    const { sellerId, apiKey } = await service.newSeller();
    keys.push(apiKey);
    while (keys.length % KEYS_PER_SELLER > 0) keys.push(await service.newKey(sellerId));
  }
  const nextKey = inTurns(keys);
  const call = async (key: string, expected: number, path: string, body?: object): Promise<unknown> => {
    const { status, json } = await service.call(key, path, body);
    if (status !== expected) throw new Error(JSON.stringify(json));
    return json;
  };
  return {
    'list (20 users)': () => call(nextKey(), 200, '/v1/users'),
    'create (a registered buyer)': async () => {
      const person = newDemoPerson();
      await service.registerBuyer(person.phone);
      return call(nextKey(), 201, '/v1/users', person);
    },
    'sign in (send and verify)': async () => {
      const [key, { phone }] = [nextKey(), newDemoPerson()];
      await call(key, 202, '/v1/auth/otp/send', { phone });
      const messages = `/_local/messages?phone=${encodeURIComponent(phone)}`;
      const [sent] = (await call(key, 200, messages)) as { readonly code: string }[];
      await call(key, 200, '/v1/auth/otp/verify', { phone, code: sent?.code });
    },
  };
};

/** Runs a flow in closed loops for a time. Returns the milliseconds of each that succeeded. */
const runLoops = async (flow: Flow, clients: number, seconds: number) => {
  const times: number[] = [];
  let errors = 0;
  const endsAt = performance.now() + seconds * 1000;
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      try {
        await flow();
        times.push(performance.now() - startedAt);
      } catch (error) {
        if (errors === 0) console.error(`The first failure: ${String(error)}`);
        errors += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: clients }, loop));
  return { times, errors };
};

/** Measures a flow with each number of clients, after a second that warms the service. */
const measureFlow = async ([name, flow]: [string, Flow]): Promise<string[][]> => {
  await runLoops(flow, 1, 1);
  const rows: string[][] = [];
  let alone = 0;
  for (const clients of CLIENTS) {
    const { times, errors } = await runLoops(flow, clients, SECONDS);
    const perSecond = times.length / SECONDS;
    if (clients === 1) alone = perSecond;
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(1)) as [string, string];
    rows.push([name, String(clients), figure(perSecond), p50, p99, String(errors), ratio(perSecond, alone)]);
  }
  return rows;
};

/** Measures the memory of the service while clients call the flows in turns. */
const measureMemory = async (service: LocalService, flows: readonly Flow[]): Promise<string[][]> => {
  const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);
  const nextFlow = inTurns(flows);
  const start = await service.memory();
  const rows: string[][] = [];
  let done = 0;
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    const { heapUsed, rss } = await service.memory();
    const heapRatio = ratio(heapUsed, start.heapUsed);
    rows.push([String(minute), figure(done), megabytes(heapUsed), megabytes(rss), heapRatio]);
    if (minute < MINUTES) done += (await runLoops(() => nextFlow()(), MEMORY_CLIENTS, 60)).times.length;
  }
  return rows;
};

const service = await startLocalService();
try {
  const flows = await flowsOf(service);
  const rows: string[][] = [];
  for (const flow of Object.entries(flows)) rows.push(...(await measureFlow(flow)));
  const memory = await measureMemory(service, Object.values(flows));
  report(
    'load',
    `Closed loops against one local service, ${SECONDS} s per row, Node ${process.versions.node}. Times of a whole flow in milliseconds.`,
    [['flow', 'clients', 'per second', 'p50', 'p99', 'errors', '× 1 client'], ...rows],
    [['minutes', 'flows', 'heap after GC, MB', 'RSS, MB', 'heap × start'], ...memory],
  );
} finally {
  await service.stop();
}
