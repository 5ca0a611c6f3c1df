import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { type Connection, openAdminTable } from '#admin/cli/connection.ts';
import { releaseOf } from '#lib/release.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fileSecret } from '#shared/secrets/secret-source.ts';
import { filesIn } from './data-folder.ts';
import type { Demo } from './demo-seeds.ts';
import { LOCAL_CREDENTIALS } from './environment.ts';
import { localAdministration } from './local-administration.ts';

/** Connects to the service that `npm start` runs. The caller's own AWS credentials are not used. */
export const connectLocal = async (folder: string): Promise<Connection> => {
  const { demoFile, hashSecretFile } = filesIn(folder);
  const demo = JSON.parse(await readFile(demoFile, 'utf8')) as Demo;
  const table = openAdminTable(demo.table_name, {
    endpoint: demo.dynamodb_endpoint,
    region: LOCAL_CREDENTIALS.AWS_REGION,
    credentials: {
      accessKeyId: LOCAL_CREDENTIALS.AWS_ACCESS_KEY_ID,
      secretAccessKey: LOCAL_CREDENTIALS.AWS_SECRET_ACCESS_KEY,
    },
  });
  return {
    admin: localAdministration(table, `local:${userInfo().username}`),
    hashes: keyedHashesFrom(fileSecret(hashSecretFile)),
    release: releaseOf,
    alarms: async () => undefined,
    hashSecretArn: undefined,
    aws: undefined,
    baseUrl: demo.base_url,
    isSandbox: true,
    close: () => table.client.destroy(),
  };
};
