import { readFile, realpath } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { administration } from '#admin/administration.ts';
import { refusal } from '#admin/operations/refusal.ts';
import { apiGatewayClient, apiGatewayUsagePlans } from '#admin/usage-plans/api-gateway.ts';
import { readAdminTarget } from '#local/admin-target.ts';
import { LOCAL_API_ID, LOCAL_PLAN_IDS, LOCAL_STAGE_NAME } from '#local/control-plane/identifiers.ts';
import { systemClock } from '#shared/clock.ts';
import { randomIds } from '#shared/ids.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { openAdminTable } from './admin-table.ts';
import type { Connection } from './connection.ts';

/** Nobody checks them, but the SDK wants some; the caller's own stay out of it. */
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const REGION = 'us-east-1';

/** Connects to the service that `npm start` runs: the same SDK, pointed at this machine. */
export const connectLocal = async (folder: string): Promise<Connection> => {
  const target = await readAdminTarget(folder);
  if (target === undefined) throw refusal('not_reachable', 'The local service is not ready yet.');
  const gateway = apiGatewayClient({
    endpoint: target.control_plane_url,
    region: REGION,
    credentials: CREDENTIALS,
  });
  const table = openAdminTable(target.table_name, {
    endpoint: target.dynamodb_endpoint,
    region: REGION,
    credentials: CREDENTIALS,
  });
  const admin = administration({
    table,
    usagePlans: apiGatewayUsagePlans({
      client: gateway,
      apiId: LOCAL_API_ID,
      stageName: LOCAL_STAGE_NAME,
      planIds: LOCAL_PLAN_IDS,
    }),
    keyPrefix: target.key_prefix,
    stage: LOCAL_STAGE_NAME,
    actor: `local:${userInfo().username}`,
    clock: systemClock,
    ids: randomIds,
  });
  const secret = readFile(target.digest_secret_path, 'utf8');
  secret.catch(() => {});
  return {
    admin,
    hashes: keyedHashesFrom({ read: () => secret }),
    deployment: `local ${await realpath(folder)}`,
    close() {
      gateway.destroy();
      table.client.destroy();
    },
  };
};
