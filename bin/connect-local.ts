import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { administration } from '#admin/administration.ts';
import { type Connection, openAdminTable } from '#admin/cli/connection.ts';
import { randomIds } from '#admin/ids.ts';
import { refusal } from '#admin/refusal.ts';
import { releaseOf } from '#lib/release.ts';
import { readAdminTarget } from '#local/admin-target.ts';
import { KEY_PREFIX, LOCAL_CREDENTIALS, STAGE_NAME } from '#local/environment.ts';
import { localUsagePlans, usagePlansTable } from '#local/usage-plans.ts';
import { systemClock } from '#shared/clock.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';

/** Connects to the service that `npm start` runs. The caller's own AWS credentials are not used. */
export const connectLocal = async (folder: string): Promise<Connection> => {
  const target = await readAdminTarget(folder);
  if (target === undefined) throw refusal('not_reachable', 'The local service is not ready yet.');
  const table = openAdminTable(target.table_name, {
    endpoint: target.dynamodb_endpoint,
    region: LOCAL_CREDENTIALS.AWS_REGION,
    credentials: {
      accessKeyId: LOCAL_CREDENTIALS.AWS_ACCESS_KEY_ID,
      secretAccessKey: LOCAL_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
    },
  });
  const admin = administration({
    table,
    usagePlans: localUsagePlans(usagePlansTable(table)),
    keyPrefix: KEY_PREFIX,
    stage: STAGE_NAME,
    actor: `local:${userInfo().username}`,
    clock: systemClock,
    ids: randomIds,
  });
  const secret = readFile(target.hash_secret_path, 'utf8');
  secret.catch(() => {});
  return {
    admin,
    hashes: keyedHashesFrom({ read: () => secret }),
    release: releaseOf,
    alarms: async () => undefined,
    hashSecretArn: undefined,
    aws: undefined,
    baseUrl: target.base_url,
    isSandbox: true,
    close() {
      table.client.destroy();
    },
  };
};
