import { rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { writePages } from '#lib/docs-page/write-pages.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { randomBase62 } from '#shared/base62.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { systemClock } from '#shared/clock.ts';
import { redirectLog } from '#shared/log.ts';
import { writeAdminTarget } from './admin-target.ts';
import { type DataFolder, ensureSecrets, openDataFolder } from './data-folder.ts';
import type { Database } from './database.ts';
import { type DemoSellers, registerExampleBuyer, seedDemo } from './demo-seeds.ts';
import { chosenOtpAccess, KEY_PREFIX, setEnvironment, TABLE_NAME } from './environment.ts';
import { lockFolder } from './folder-lock.ts';
import { loadFunctions } from './gateway/functions.ts';
import { withQueuedLinks } from './gateway/queued-links.ts';
import { type Completed, gateway } from './gateway.ts';
import { localAdministration } from './local-administration.ts';
import { type Closer, openDatabase, openLocalTable } from './local-database.ts';
import { isLocalPath, localPaths } from './local-paths.ts';
import { writePrivateFile } from './private-file.ts';
import { reservePort } from './reserved-port.ts';
import { openServiceLog } from './service-log.ts';
import { type SentMessage, startSimulators } from './simulators/server.ts';
import { USAGE_PLANS_PATH, usagePlansEndpoint } from './usage-plans/endpoint.ts';
import { type LocalUsagePlans, openUsagePlans } from './usage-plans/store.ts';

/** The options of the local service. */
export interface ServiceOptions {
  /** 0: any free one. */
  readonly port: number;
  /** The data folder. */
  readonly folder: string;
  /** The table and the usage plans are not kept. */
  readonly inMemory: boolean;
  /** Another DynamoDB than the embedded one. */
  readonly databaseEndpoint: string | undefined;
  /** Receives a sentence about each step of the start. */
  readonly onProgress: (sentence: string) => void;
  readonly onCompleted: (completed: Completed) => void;
  /** Receives each SMS that goes to the simulator. */
  readonly onMessage: (message: SentMessage) => void;
}

/** The content of `.local/demo.json`: the URL of the service and the keys to call it with. */
export type Demo = { readonly base_url: string } & DemoSellers;

/** The running service. */
export interface Service {
  readonly demo: Demo;
  /** Resolves with a sentence when a part that the service needs ends by itself. */
  readonly broken: Promise<string>;
  /** Lets requests in flight finish, then ends every part. */
  stop(): Promise<void>;
}

/** Starts every part. Ends those that were started, the last one first, and rejects if one does not start. */
export const startService = async (options: ServiceOptions): Promise<Service> => {
  const closers: Closer[] = [];
  const stop = async (): Promise<void> => {
    for (let close = closers.pop(); close !== undefined; close = closers.pop()) await close();
  };
  try {
    return { ...(await start(options, closers)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
};

const start = async (options: ServiceOptions, closers: Closer[]): Promise<Omit<Service, 'stop'>> => {
  const reserved = await reservePort(options.port);
  closers.push(reserved.close);
  const baseUrl = `http://localhost:${reserved.port}`;
  const folder = await openFolder(options.folder, closers);
  const database = await openDatabase(options, folder, closers);
  const table = await openLocalTable(database, closers);
  const usagePlans = await openUsagePlans({
    clock: systemClock,
    ...(options.inMemory ? {} : { file: folder.usagePlansFile }),
  });
  closers.push(usagePlans.close);
  const usagePlansToken = randomBase62(40);
  reserved.open(
    await requestListener(options, { baseUrl, folder, database, usagePlans, usagePlansToken, closers }),
  );

  options.onProgress('Making sure that the demo sellers and their keys exist.');
  const sellers = await seedDemo(options.inMemory ? undefined : folder.path, {
    admin: localAdministration(table, usagePlans),
    secrets: keySecretStore(table),
    isInPlan: (usageId) => usagePlans.throttleOf(usageId) !== undefined,
  });
  await registerExampleBuyer(buyerStore(table), folder.hashSecretFile);
  const demo = { base_url: baseUrl, ...sellers };
  await announce({ folder, demo, database, usagePlansToken }, closers);
  // Closed first: requests in flight need every other part.
  closers.push(reserved.close);
  return { demo, broken: database.died };
};

/** Opens the data folder for this service alone, with its secrets and its log. */
const openFolder = async (path: string, closers: Closer[]): Promise<DataFolder> => {
  const folder = await openDataFolder(path);
  closers.push(await lockFolder(folder.path));
  // A service that was killed leaves this file behind.
  await rm(folder.demoFile, { force: true });
  await ensureSecrets(folder);
  const log = openServiceLog(folder.logFile);
  closers.push(log.close, redirectLog(log.write));
  return folder;
};

interface Parts {
  readonly baseUrl: string;
  readonly folder: DataFolder;
  readonly database: Database;
  readonly usagePlans: LocalUsagePlans;
  readonly usagePlansToken: string;
  readonly closers: Closer[];
}

/** Starts the simulators, loads the functions and returns what serves every path of the port. */
const requestListener = async (options: ServiceOptions, parts: Parts) => {
  const { baseUrl, folder, database, usagePlans, usagePlansToken, closers } = parts;
  const simulators = await startSimulators();
  closers.push(simulators.close);
  simulators.onMessage(options.onMessage);
  await writePrivateFile(folder.providerSecretFile, JSON.stringify(simulators.providerSecret));

  options.onProgress('Loading the functions.');
  await writePages(folder.pagesFolder);
  setEnvironment({ baseUrl, databaseEndpoint: database.endpoint, folder });
  const serveLocal = localPaths({
    serveUsagePlans: usagePlansEndpoint(usagePlans, usagePlansToken),
    simulators,
    demoFile: folder.demoFile,
  });
  const serveApi = gateway({
    functions: withQueuedLinks(await loadFunctions()),
    usagePlans,
    otpAccess: chosenOtpAccess(),
    clock: systemClock,
    onCompleted: options.onCompleted,
  });
  return (request: IncomingMessage, response: ServerResponse): Promise<void> =>
    isLocalPath(request) ? serveLocal(request, response) : serveApi(request, response);
};

interface Announcement {
  readonly folder: DataFolder;
  readonly demo: Demo;
  readonly database: Database;
  readonly usagePlansToken: string;
}

/** Writes the files by which scripts and the admin CLI reach the service. The first one is removed at the end. */
const announce = async (
  { folder, demo, database, usagePlansToken }: Announcement,
  closers: Closer[],
): Promise<void> => {
  await writeAdminTarget(folder.path, {
    base_url: demo.base_url,
    usage_plans: { url: `${demo.base_url}${USAGE_PLANS_PATH}`, token: usagePlansToken },
    dynamodb_endpoint: database.endpoint,
    dynamodb_access_key_id: database.accessKeyId,
    table_name: TABLE_NAME,
    key_prefix: KEY_PREFIX,
    hash_secret_path: folder.hashSecretFile,
  });
  closers.push(() => rm(folder.demoFile, { force: true }));
  await writePrivateFile(folder.demoFile, `${JSON.stringify(demo, null, 2)}\n`);
};
