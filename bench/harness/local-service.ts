import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AdminTarget, readAdminTarget } from '#local/admin-target.ts';
import { localUsagePlans } from '#local/api-gateway/client.ts';
import { setLocalCredentials } from '#local/environment.ts';
import { fileSecret } from '#shared/secrets/file.ts';
import { openTable } from '#shared/table/client.ts';
import { preparations } from './database.ts';

const PROGRAM = fileURLToPath(new URL('./service-process.ts', import.meta.url));

/** Starts the service of `npm start` as a process of its own, with a new data folder. */
export const startLocalService = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'buyer-linking-bench-'));
  const child = fork(PROGRAM, [folder], { execArgv: ['--expose-gc'] });
  await once(child, 'message');
  const target = (await readAdminTarget(folder)) as AdminTarget;
  setLocalCredentials(target.dynamodb_access_key_id);
  const table = openTable(target.table_name, target.dynamodb_endpoint);
  const apiGateway = localUsagePlans({
    endpoint: target.api_gateway_endpoint,
    accessKeyId: target.api_gateway_access_key_id,
  });
  return {
    folder,
    ...preparations(table, apiGateway.usagePlans, fileSecret(target.hash_secret_path)),

    /** Calls the service: GET, or POST with a body. */
    async call(apiKey: string, path: string, body?: object): Promise<{ status: number; json: unknown }> {
      const response = await fetch(`${target.base_url}${path}`, {
        headers: { 'X-Api-Key': apiKey, 'Content-Type': 'application/json' },
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      });
      return { status: response.status, json: await response.json() };
    },

    /** Returns the bytes that the service uses after a garbage collection. */
    async memory(): Promise<{ readonly heapUsed: number; readonly rss: number }> {
      child.send('memory');
      return (await once(child, 'message'))[0];
    },

    async stop(): Promise<void> {
      apiGateway.close();
      table.client.destroy();
      child.send('stop');
      await once(child, 'exit');
      await rm(folder, { recursive: true });
    },
  };
};

export type LocalService = Awaited<ReturnType<typeof startLocalService>>;
