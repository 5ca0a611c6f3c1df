import { readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { type Administration, administration } from '#admin/administration.ts';
import { type Connection, openAdminTable } from '#admin/cli/connection.ts';
import { releaseOf } from '#lib/release.ts';
import { systemClock } from '#shared/clock.ts';
import { keyedHashesFrom } from '#shared/secrets/keyed-hashes.ts';
import { fileSecret } from '#shared/secrets/secret-source.ts';
import type { Table } from '#shared/table/client.ts';
import { localAuthorizerCache } from './authorizer-cache.ts';
import { filesIn } from './data-folder.ts';
import type { Demo } from './demo-seeds.ts';
import { KEY_PREFIX, STAGE_NAME, setLocalCredentials } from './environment.ts';

/** The admin operations on the service of this machine: the same code as for a stage. */
export const localAdministration = (table: Table, actor: string): Administration =>
  administration({
    table,
    authorizerCache: localAuthorizerCache(table),
    usagePlans: undefined,
    keyPrefix: KEY_PREFIX,
    registryIsSandbox: true,
    stage: STAGE_NAME,
    actor,
    clock: systemClock,
  });

/** The name of the user in the audit. A container may run as a number that has no name. */
const userName = (): string => {
  try {
    return userInfo().username;
  } catch {
    return `user ${process.getuid?.()}`;
  }
};

/** Connects to the service that `npm start` runs. The caller's own AWS credentials are not used. */
export const connectLocal = async (folder: string): Promise<Connection> => {
  const { demoFile, hashSecretFile } = filesIn(folder);
  const demo = JSON.parse(await readFile(demoFile, 'utf8')) as Demo;
  setLocalCredentials();
  const table = openAdminTable(demo.table_name, { endpoint: demo.dynamodb_endpoint });
  return {
    admin: localAdministration(table, `local:${userName()}`),
    hashes: keyedHashesFrom(fileSecret(hashSecretFile)),
    release: releaseOf,
    alarms: async () => undefined,
    movedAliases: async () => undefined,
    hashSecretArn: undefined,
    aws: undefined,
    baseUrl: demo.base_url,
    isSandbox: true,
  };
};
