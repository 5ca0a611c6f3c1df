import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { startLocalService } from '#bench/harness/local-service.ts';
import { callProvider, listen } from '#bench/harness/recorder.ts';
import { newDemoPerson } from '#local/demo/people.ts';

/** The result of parallel creates of one seller. */
export interface ParallelCreates {
  readonly clients: number;
  readonly seconds: number;
  /** Responses by status, such as `201`. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly transactionsPerSuccess: number;
}

/** Puts a proxy in front of the registries, which delays each call. The service reads its secret with the first check. */
const slowDownRegistries = async (folder: string, delayMs: number) => {
  const proxy = createServer(async (request, response) => {
    await pause(delayMs);
    const { status, type, body } = await callProvider(request, await text(request));
    response.writeHead(status, { 'Content-Type': type }).end(body);
  });
  const { url, close } = await listen(proxy, 'http');
  const file = join(folder, 'provider-secret.json');
  const secret = await readFile(file, 'utf8');
  await writeFile(file, secret.replaceAll('http://127.0.0.1:', `${url}/`));
  return close;
};

/** Starts the service as `npm start` does and sends `clients` creates of one seller at once. The registries take `registryMs`. */
export const parallelCreates = async (clients: number, registryMs: number): Promise<ParallelCreates> => {
  const service = await startLocalService();
  const closeProxy = await slowDownRegistries(service.folder, registryMs);
  try {
    const { apiKey } = await service.newSeller();
    const people = Array.from({ length: clients }, newDemoPerson);
    for (const { phone } of people) await service.registerBuyer(phone);
    const startedAt = performance.now();
    const responses = await Promise.all(people.map((person) => service.call(apiKey, '/v1/users', person)));
    const seconds = (performance.now() - startedAt) / 1000;
    const statuses: Record<string, number> = {};
    for (const { status } of responses) statuses[status] = (statuses[status] ?? 0) + 1;
    const log = await readFile(join(service.folder, 'service.log'), 'utf8');
    const transactions = log.match(/dynamodb:TransactWrite/g)?.length ?? 0;
    return { clients, seconds, statuses, transactionsPerSuccess: transactions / (statuses[201] ?? 0) };
  } finally {
    await closeProxy();
    await service.stop();
  }
};
