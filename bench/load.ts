import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AdminTarget, readAdminTarget } from '#local/admin-target.ts';
import { newDemoPerson } from '#local/demo/people.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { localUsagePlans } from '#local/usage-plans/client.ts';
import { fileSecret } from '#shared/secrets/file.ts';
import { openTable } from '#shared/table/client.ts';
import { preparations } from './harness/database.ts';
import { figure, option, quantile, ratio, report } from './harness/report.ts';

/**
 * `npm run bench:load` calls the local service over HTTP in closed loops: each client sends its next request when it has its response.
 * Then it keeps 16 clients busy and measures the memory of the service. Options: `--seconds <per row>`, `--minutes <for the memory>`.
 */
const SECONDS = option('seconds', 10);
const MINUTES = option('minutes', 5);
const CLIENTS = [1, 4, 16, 64] as const;
const MEMORY_CLIENTS = 16;
const SELLERS = 8;
/** As many as keep the fastest operation within the rate limit of a key, 1,000 requests per minute. */
const KEYS_PER_SELLER = 8;

/** Starts the service as a process of its own. */
const startProcess = async (folder: string) => {
  const child = fork(fileURLToPath(new URL('./harness/service-process.ts', import.meta.url)), [folder], {
    execArgv: ['--expose-gc'],
  });
  await once(child, 'message');
  return {
    async memory(): Promise<{ readonly heapUsed: number; readonly rss: number }> {
      child.send('memory');
      return (await once(child, 'message'))[0];
    },
    async stop(): Promise<void> {
      child.send('stop');
      await once(child, 'exit');
    },
  };
};

/** The flows of a client, by name. Each throws if a response is not the expected one. */
const flowsOf = async ({ base_url, usage_plans, ...target }: AdminTarget) => {
  setLocalCredentials(target.dynamodb_access_key_id);
  const table = openTable(target.table_name, target.dynamodb_endpoint);
  const prepare = preparations(table, localUsagePlans(usage_plans), fileSecret(target.hash_secret_path));
  const keys: string[] = [];
  for (let seller = 0; seller < SELLERS; seller += 1) {
    const { sellerId, apiKey } = await prepare.newSeller();
    keys.push(apiKey);
    while (keys.length % KEYS_PER_SELLER > 0) keys.push(await prepare.newKey(sellerId));
  }
  let flows = 0;
  const nextKey = (): string => {
    flows += 1;
    return keys[flows % keys.length] as string;
  };
  const call = async (key: string, status: number, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${base_url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'X-Api-Key': key, 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const json = await response.json();
    if (response.status !== status) throw new Error(JSON.stringify(json));
    return json;
  };
  const flowTable: Record<string, () => Promise<unknown>> = {
    'list (20 users)': () => call(nextKey(), 200, '/v1/users'),
    'create (a registered buyer)': async () => {
      const person = newDemoPerson();
      await prepare.registerBuyer(person.phone);
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
  return { flowTable, close: () => table.client.destroy() };
};

/** Runs a flow in closed loops for a time. */
const runLoops = async (flow: () => Promise<unknown>, clients: number, seconds: number) => {
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
  return { times, errors, perSecond: times.length / seconds };
};

const megabytes = (bytes: number): string => (bytes / 1e6).toFixed(1);

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-load-'));
const service = await startProcess(folder);
try {
  const { flowTable, close } = await flowsOf((await readAdminTarget(folder)) as AdminTarget);
  const rows: string[][] = [];
  for (const [name, flow] of Object.entries(flowTable)) {
    await runLoops(flow, 1, 1);
    let alone = 0;
    for (const clients of CLIENTS) {
      const { times, errors, perSecond } = await runLoops(flow, clients, SECONDS);
      if (clients === 1) alone = perSecond;
      const ms = (share: number) => quantile(times, share).toFixed(1);
      rows.push([
        name,
        String(clients),
        figure(perSecond),
        ms(0.5),
        ms(0.99),
        String(errors),
        ratio(perSecond, alone),
      ]);
    }
  }
  const flows = Object.values(flowTable);
  const memory = [['minutes', 'flows', 'heap after GC, MB', 'RSS, MB', 'heap × start']];
  const start = await service.memory();
  let done = 0;
  for (let minute = 0; minute <= MINUTES; minute += 1) {
    const { heapUsed, rss } = await service.memory();
    memory.push([
      String(minute),
      figure(done),
      megabytes(heapUsed),
      megabytes(rss),
      ratio(heapUsed, start.heapUsed),
    ]);
    if (minute === MINUTES) break;
    let next = 0;
    const mixed = () => {
      next += 1;
      return (flows[next % flows.length] as () => Promise<unknown>)();
    };
    done += (await runLoops(mixed, MEMORY_CLIENTS, 60)).times.length;
  }
  report(
    'load',
    `Closed loops against one local service, ${SECONDS} s per row, Node ${process.versions.node}. Times of a whole flow in milliseconds.`,
    [['flow', 'clients', 'per second', 'p50', 'p99', 'errors', '× 1 client'], ...rows],
    memory,
  );
  close();
} finally {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
}
