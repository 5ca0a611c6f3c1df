import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import autocannon, { type Request } from 'autocannon';
import { newDemoPerson } from '#local/demo/people.ts';
import { ROOT } from './harness/recording.ts';
import { figure, option, report } from './harness/report.ts';

/**
 * `npm run bench:load` calls the local service over HTTP with autocannon: each client sends its next request when it has its response.
 * Option: `--seconds <per row>`.
 */
const seconds = Number(option('seconds') ?? 10);
const CLIENTS = [1, 4, 16, 64] as const;
/** As many as keep the fastest operation within the rate limit of a key, 1,000 requests per minute. */
const KEYS = 32;
/** More buyers than one service can link per second. */
const BUYERS_PER_SECOND = 200;

const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));

/** Runs a command of the admin CLI and returns its JSON. */
const admin = async (...args: string[]) => {
  const command = [join(ROOT, 'bin', 'buyer-linking.mjs'), '--data', folder, ...args, '--json'];
  return JSON.parse((await promisify(execFile)(process.execPath, command)).stdout);
};

/** Returns the URL of the service, and functions that return the next key and the next registered person. */
const prepare = async () => {
  const demo = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'));
  const keyOptions = ['--plan', 'professional', '--scopes', 'users:read,users:write'];
  const keys: string[] = [];
  while (keys.length < KEYS) keys.push((await admin('keys', 'issue', demo.seller_id, ...keyOptions)).key);
  const people = Array.from({ length: CLIENTS.length * seconds * BUYERS_PER_SECOND }, newDemoPerson);
  const file = join(folder, 'buyers.txt');
  await writeFile(file, people.map(({ phone }) => phone).join('\n'));
  await admin('buyers', 'import', file);
  let requests = 0;
  return {
    url: demo.base_url as string,
    nextKey: () => keys[requests++ % KEYS] as string,
    nextPerson: () => people.pop() ?? newDemoPerson(),
  };
};

type Prepared = Awaited<ReturnType<typeof prepare>>;

type Operation = Pick<Request, 'method' | 'path' | 'body'>;

/** Returns the next request of each operation. The create comes first, so that there are users to list. */
const operationsOf = ({ nextPerson }: Prepared): Readonly<Record<string, () => Operation>> => {
  const post = (path: string, body: object) =>
    ({ method: 'POST', path, body: JSON.stringify(body) }) as const;
  return {
    'create (a registered buyer)': () => post('/v1/users', nextPerson()),
    'list (20 users)': () => ({ method: 'GET', path: '/v1/users' }),
    'send a code': () => post('/v1/auth/otp/send', { phone: newDemoPerson().phone }),
  };
};

/** Measures an operation with each number of clients. */
const measure = async ({ url, nextKey }: Prepared, name: string, next: () => Operation) => {
  const setupRequest = (request: Request): Request => {
    const headers = { 'X-Api-Key': nextKey(), 'Content-Type': 'application/json' };
    return { ...request, ...next(), headers };
  };
  const rows: string[][] = [];
  for (const connections of CLIENTS) {
    const { requests, latency, non2xx, errors } = await autocannon({
      ...{ url, connections, duration: seconds },
      // Each client has a request of its own, since autocannon changes it.
      setupClient: (client) => client.setRequests([{ setupRequest }]),
    });
    const times = [latency.p50, latency.p99].map((ms) => figure(ms));
    rows.push([name, String(connections), figure(requests.average), ...times, String(non2xx + errors)]);
  }
  return rows;
};

const program = [join(ROOT, 'bin', 'local.ts'), '--memory', '--port', '0', '--data', folder];
const service = spawn(process.execPath, program, { stdio: ['ignore', 'pipe', 'inherit'] });
try {
  await new Promise<void>((resolve, reject) => {
    const lines = createInterface({ input: service.stdout });
    lines.on('line', (line) => line.includes('Ready: ') && resolve());
    lines.on('close', () => reject(new Error('The service did not start.')));
  });
  const prepared = await prepare();
  const rows: string[][] = [];
  for (const [name, next] of Object.entries(operationsOf(prepared))) {
    rows.push(...(await measure(prepared, name, next)));
  }
  report(
    'load',
    `autocannon against one local service, ${seconds} s per row, Node ${process.versions.node}. Milliseconds of a request.`,
    [['operation', 'clients', 'requests per second', 'p50', 'p99', 'errors'], ...rows],
  );
} finally {
  service.kill();
  if (service.exitCode === null) await once(service, 'exit');
  await rm(folder, { recursive: true });
}
