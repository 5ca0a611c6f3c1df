import { rm } from 'node:fs/promises';
import { builtSite } from '#lib/site.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { cachedPromise } from '#shared/cached-promise.ts';
import { systemClock } from '#shared/clock.ts';
import { openTable } from '#shared/table/client.ts';
import { localAdministration } from './administration.ts';
import { localAuthorizerCache } from './authorizer-cache.ts';
import { type DataFolder, openFolder, writePrivateJson } from './data-folder.ts';
import { type Database, ensureTable, startDatabase } from './database.ts';
import { type Demo, registerExampleBuyer, seedDemo } from './demo-seeds.ts';
import {
  chosenDatabaseEndpoint,
  chosenOtpAccess,
  chosenSiteFolder,
  setEnvironment,
  setLocalCredentials,
  TABLE_NAME,
} from './environment.ts';
import { loadFunctions } from './gateway/functions.ts';
import { type Completed, gateway } from './gateway.ts';
import { forgetUse, isLocalPath, localPaths } from './local-paths.ts';
import { listenOnLoopback, type Serve } from './loopback-server.ts';
import { StartupError } from './startup-error.ts';

/** The options of the local service. */
export interface ServiceOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly folder: string;
  /** The table is not kept. */
  readonly inMemory: boolean;
  /** Receives a sentence about each step of the start. */
  readonly onProgress: (sentence: string) => void;
  readonly onCompleted: (completed: Completed) => void;
  /** The variables of other providers than the sandbox, such as simulated ones. */
  readonly providers?: Readonly<Record<string, string>>;
}

/**
 * Starts every part. If one does not start, ends those before it and rejects; the port is free when the process ends. `stop` lets requests
 * in flight finish, then ends every part, the last one first.
 */
export const startService = async (options: ServiceOptions) => {
  await using parts = new AsyncDisposableStack();
  const service = await start(options, parts);
  const running = parts.move();
  return { ...service, stop: () => running.disposeAsync() };
};

const start = async (options: ServiceOptions, parts: AsyncDisposableStack) => {
  const { inMemory, onProgress, onCompleted } = options;
  const { promise: ready, resolve: open } = Promise.withResolvers<Serve>();
  // Requests that come early wait until the service is ready.
  const server = await listenOnLoopback(options.port, async (...exchange) => (await ready)(...exchange));
  const baseUrl = `http://localhost:${server.port}`;
  const folder = await openFolder(options.folder, parts);
  const { database, table } = await openDatabase(options, folder, parts);

  onProgress('Loading the functions.');
  const chosenSite = chosenSiteFolder();
  const siteBuild = new AbortController();
  const buildSite = cachedPromise(async () => chosenSite ?? builtSite(onProgress, siteBuild.signal));
  setEnvironment(folder, {
    TOKEN_ISSUERS: baseUrl,
    BASE_URL: baseUrl,
    DYNAMODB_ENDPOINT: database.endpoint,
    ...options.providers,
  });
  const serveApi = gateway({
    functions: await loadFunctions(),
    flushes: localAuthorizerCache(table).flushes,
    otpAccess: chosenOtpAccess(),
    clock: systemClock,
    onCompleted,
    buildSite,
  });

  onProgress('Making sure that the demo sellers and their keys exist.');
  const admin = localAdministration(table, 'local:npm start');
  const sellers = await seedDemo(inMemory ? undefined : folder.demoKeysFile, admin);
  await registerExampleBuyer(buyerStore(table), folder.hashSecretFile);
  const serveLocal = localPaths(sellers, () => forgetUse(table));
  open((request, response) => (isLocalPath(request) ? serveLocal : serveApi)(request, response));
  const addresses = { base_url: baseUrl, dynamodb_endpoint: database.endpoint, table_name: table.name };
  const demo: Demo = { ...addresses, ...sellers };
  parts.defer(() => rm(folder.demoFile, { force: true }));
  await writePrivateJson(folder.demoFile, demo);
  // Closed before every other part, which requests in flight need.
  parts.defer(server.close);
  parts.defer(async () => {
    siteBuild.abort();
    await buildSite().catch(() => {});
  });
  /** Resolves with a sentence when a part that the service needs ends by itself. */
  const broken = database.died;
  return { demo, broken, buildSite };
};

/** Opens the embedded database, or the one of DYNAMODB_ENDPOINT, and makes sure that its table exists. */
const openDatabase = async (
  { inMemory, onProgress }: ServiceOptions,
  folder: DataFolder,
  parts: AsyncDisposableStack,
) => {
  setLocalCredentials();
  const chosen = chosenDatabaseEndpoint();
  const kept = inMemory
    ? ' in memory: it keeps nothing after the end'
    : `; its data is kept in ${folder.path}`;
  onProgress(
    chosen === undefined ? `Starting the embedded DynamoDB${kept}.` : `Using the DynamoDB at ${chosen}.`,
  );
  const database: Database =
    chosen === undefined
      ? await startDatabase(inMemory ? { databasePidFile: folder.databasePidFile } : folder)
      : { endpoint: chosen, died: new Promise(() => {}), stop: async () => {} };
  parts.defer(database.stop);
  const table = openTable(TABLE_NAME, database.endpoint);
  parts.defer(() => table.client.destroy());
  try {
    await ensureTable(table);
  } catch (cause) {
    const { name } = cause as Error;
    throw new StartupError(`The DynamoDB at ${database.endpoint} gives no table: ${name}.`, { cause });
  }
  return { database, table };
};
