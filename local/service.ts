import { rm } from 'node:fs/promises';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { systemClock } from '#shared/clock.ts';
import { redirectLog } from '#shared/log.ts';
import { openTable } from '#shared/table/client.ts';
import { writeAdminTarget } from './admin-target.ts';
import { CONTROL_PLANE_PREFIX, openControlPlane } from './control-plane.ts';
import { type DataFolder, ensureSecrets, openDataFolder } from './data-folder.ts';
import { type Database, foreignDatabase, startDatabase } from './database.ts';
import { type DemoSellers, seedDemo } from './demo-seeds.ts';
import { KEY_PREFIX, otpAccess, setEnvironment, setLocalCredentials, TABLE_NAME } from './environment.ts';
import { lockFolder } from './folder-lock.ts';
import { frontDoor } from './front-door.ts';
import { loadFunctions } from './gateway/functions.ts';
import { type Completed, gateway } from './gateway.ts';
import { localAdministration } from './local-administration.ts';
import { isLocalPath, localPaths } from './local-paths.ts';
import { writePrivateFile } from './private-file.ts';
import { openServiceLog } from './service-log.ts';
import { type SentMessage, startSimulators } from './simulators/server.ts';
import { StartupError } from './startup-error.ts';
import { ensureTable } from './table.ts';

export interface ServiceOptions {
  /** 0: any free one. */
  readonly port: number;
  /** The data folder. */
  readonly folder: string;
  /** The table forgets everything at the end. */
  readonly inMemory: boolean;
  /** Another DynamoDB than the embedded one. */
  readonly databaseEndpoint: string | undefined;
  /** Told what is being done, a sentence at a time. */
  readonly onProgress: (sentence: string) => void;
  readonly onCompleted: (completed: Completed) => void;
  /** An SMS went out, to the simulator. */
  readonly onMessage: (message: SentMessage) => void;
}

/** What `.local/demo.json` says: where the service is, and the keys to call it with. */
export type Demo = { readonly base_url: string } & DemoSellers;

/** The service, running. */
export interface Service {
  readonly demo: Demo;
  /** Resolves with a sentence if a part that it cannot do without ends by itself. */
  readonly broken: Promise<string>;
  /** Lets requests in flight finish, then ends every part. */
  stop(): Promise<void>;
}

type Closer = () => Promise<unknown> | unknown;

/** Starts every part, the last one first to be ended. Rejects, with all that was started ended again, if one does not start. */
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
  const front = await frontDoor(options.port);
  closers.push(front.close);
  const baseUrl = `http://localhost:${front.port}`;
  const folder = await openFolder(options.folder, closers);
  const database = await openDatabase(options, folder, closers);
  const table = openTable(TABLE_NAME, database.endpoint);
  closers.push(() => table.client.destroy());
  await ensureTable(table).catch((cause: Error) => {
    throw new StartupError(`The DynamoDB at ${database.endpoint} gives no table: ${cause.name}.`, { cause });
  });

  const simulators = await startSimulators();
  closers.push(simulators.close);
  simulators.onMessage(options.onMessage);
  await writePrivateFile(folder.providerSecretFile, JSON.stringify(simulators.providerSecret));
  const controlPlane = await openControlPlane(options.inMemory ? {} : { file: folder.controlPlaneFile });
  closers.push(controlPlane.close);

  options.onProgress('Loading the functions.');
  setEnvironment({ baseUrl, databaseEndpoint: database.endpoint, folder });
  const serveLocal = localPaths(controlPlane, simulators);
  const serveApi = gateway({
    functions: await loadFunctions(),
    usagePlanKeys: controlPlane,
    otpAccess: otpAccess(),
    clock: systemClock,
    onCompleted: options.onCompleted,
  });
  front.open((request, response) =>
    isLocalPath(request.url ?? '') ? serveLocal(request, response) : serveApi(request, response),
  );

  options.onProgress('Making sure that the demo sellers and their keys are there.');
  const administering = localAdministration(table, `${baseUrl}${CONTROL_PLANE_PREFIX}`);
  closers.push(administering.close);
  const sellers = await seedDemo(options.inMemory ? undefined : folder.path, {
    admin: administering.admin,
    secrets: keySecretStore(table),
    isInPlan: (usageId) => controlPlane.planOf(usageId) !== undefined,
  });
  const demo = { base_url: baseUrl, ...sellers };
  await announce({ folder, demo, database }, closers);
  // Its turn comes first: what is in flight still needs every other part.
  closers.push(front.close);
  return { demo, broken: database.died };
};

/** The data folder, for this service alone, with its secrets and its log. */
const openFolder = async (path: string, closers: Closer[]): Promise<DataFolder> => {
  const folder = await openDataFolder(path);
  closers.push(await lockFolder(folder.path));
  // What an earlier start left behind, killed before it could tidy up.
  await rm(folder.demoFile, { force: true });
  await ensureSecrets(folder);
  const log = openServiceLog(folder.logFile);
  closers.push(log.close, redirectLog(log.write));
  return folder;
};

const openDatabase = async (
  { inMemory, databaseEndpoint, onProgress }: ServiceOptions,
  folder: DataFolder,
  closers: Closer[],
): Promise<Database> => {
  setLocalCredentials();
  if (databaseEndpoint !== undefined) {
    onProgress(`Using the DynamoDB at ${databaseEndpoint}.`);
    return foreignDatabase(databaseEndpoint);
  }
  onProgress(
    inMemory
      ? 'Starting the embedded DynamoDB in memory: it forgets everything at the end.'
      : `Starting the embedded DynamoDB; its data is kept in ${folder.path}.`,
  );
  const database = await startDatabase(inMemory ? undefined : folder.tableFile);
  closers.push(database.stop);
  return database;
};

/** Tells scripts and the admin CLI that the service is ready; takes it back at the end, so that a stale file misleads nobody. */
const announce = async (
  { folder, demo, database }: { folder: DataFolder; demo: Demo; database: Database },
  closers: Closer[],
): Promise<void> => {
  await writeAdminTarget(folder.path, {
    base_url: demo.base_url,
    control_plane_url: `${demo.base_url}${CONTROL_PLANE_PREFIX}`,
    dynamodb_endpoint: database.endpoint,
    table_name: TABLE_NAME,
    key_prefix: KEY_PREFIX,
    digest_secret_path: folder.hashSecretFile,
  });
  closers.push(() => rm(folder.demoFile, { force: true }));
  await writePrivateFile(folder.demoFile, `${JSON.stringify(demo, null, 2)}\n`);
};
