import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { newDemoPerson } from '#local/demo/people.ts';
import { startSlowRegistry } from './slow-registry.ts';

/** The result of parallel creates of one seller. */
export interface ParallelCreates {
  readonly clients: number;
  readonly seconds: number;
  /** Responses by status, such as `201`. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly transactionsPerSuccess: number;
}

const START_TIMEOUT_MS = 60_000;
const REGISTRIES = ['jibit', 'zohal'] as const;

interface Demo {
  readonly base_url: string;
  readonly keys: { readonly professional: string };
}

/** Waits for the file that the service writes once it responds. */
const demoOf = async (folder: string): Promise<Demo> => {
  for (const until = performance.now() + START_TIMEOUT_MS; ; await pause(100)) {
    const text = await readFile(join(folder, 'demo.json'), 'utf8').catch(() => undefined);
    if (text !== undefined) return JSON.parse(text) as Demo;
    if (performance.now() > until) throw new Error('the service did not start');
  }
};

/** Puts a proxy in front of each registry. The service reads the secret with its first check. */
const slowRegistries = async (folder: string, delayMs: number) => {
  const file = join(folder, 'provider-secret.json');
  const secret = JSON.parse(await readFile(file, 'utf8')) as Record<string, { base_url: string }>;
  const proxies = await Promise.all(
    REGISTRIES.map(
      async (name) => [name, await startSlowRegistry(String(secret[name]?.base_url), delayMs)] as const,
    ),
  );
  const slow = proxies.map(([name, { baseUrl }]) => [name, { ...secret[name], base_url: baseUrl }]);
  await writeFile(file, JSON.stringify({ ...secret, ...Object.fromEntries(slow) }));
  return proxies.map(([, proxy]) => proxy);
};

const registerBuyers = async (folder: string, phones: readonly string[]): Promise<void> => {
  const file = join(folder, 'phones.csv');
  await writeFile(file, `phone\n${phones.join('\n')}\n`);
  await promisify(execFile)(process.execPath, ['bin/admin.ts', '--data', folder, 'buyers', 'import', file]);
};

const create = async ({ base_url, keys }: Demo, person: object): Promise<number> => {
  const response = await fetch(`${base_url}/v1/users`, {
    method: 'POST',
    headers: { 'X-Api-Key': keys.professional, 'Content-Type': 'application/json' },
    body: JSON.stringify(person),
  });
  await response.text();
  return response.status;
};

/** The transactions of all creates so far, from the completion lines of the log. */
const transactionsIn = async (folder: string): Promise<number> => {
  const log = await readFile(join(folder, 'service.log'), 'utf8');
  return log
    .split('\n')
    .filter((line) => line.includes('"request_completed"') && line.includes('"create-user"'))
    .reduce((sum, line) => sum + line.split('dynamodb:TransactWrite').length - 1, 0);
};

const stop = async (service: ChildProcess): Promise<void> => {
  if (service.exitCode !== null) return;
  service.kill('SIGTERM');
  await once(service, 'exit');
};

/** Starts the service as `npm start` does and sends `clients` creates of one seller at once. The registries take `registryMs`. */
export const parallelCreates = async (clients: number, registryMs: number): Promise<ParallelCreates> => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-contention-'));
  const service = spawn(process.execPath, ['bin/local.ts', '--memory', '--port', '0', '--data', folder], {
    stdio: 'ignore',
  });
  try {
    const demo = await demoOf(folder);
    const proxies = await slowRegistries(folder, registryMs);
    const people = Array.from({ length: clients }, newDemoPerson);
    await registerBuyers(
      folder,
      people.map(({ phone }) => phone),
    );
    const startedAt = performance.now();
    const responses = await Promise.all(people.map((person) => create(demo, person)));
    const seconds = (performance.now() - startedAt) / 1000;
    const statuses: Record<string, number> = {};
    for (const status of responses) statuses[status] = (statuses[status] ?? 0) + 1;
    const transactions = await transactionsIn(folder);
    for (const proxy of proxies) proxy.close();
    return { clients, seconds, statuses, transactionsPerSuccess: transactions / (statuses[201] ?? 0) };
  } finally {
    await stop(service);
    if (process.env.KEEP) console.log(folder);
    else await rm(folder, { recursive: true });
  }
};
