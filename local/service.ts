import { rm } from 'node:fs/promises';
import type { Administration } from '#admin/administration.ts';
import { sellerStore } from '#admin/stores/seller-store.ts';
import { writePages } from '#reference/pages/write-pages.ts';
import { keySecretStore } from '#shared/api-keys/store.ts';
import { buyerStore } from '#shared/buyers/store.ts';
import { cachedPromise } from '#shared/cached-promise.ts';
import { systemClock } from '#shared/clock.ts';
import type { Table } from '#shared/table/client.ts';
import { writeAdminTarget } from './admin-target.ts';
import type { ApiGatewayAccess } from './api-gateway/client.ts';
import { startApiGateway } from './api-gateway/server.ts';
import { type DataFolder, type FolderOptions, openFolder } from './data-folder.ts';
import type { Database } from './database.ts';
import { type DemoSellers, registerExampleBuyer, seedDemo } from './demo-seeds.ts';
import { chosenOtpAccess, KEY_PREFIX, setEnvironment, TABLE_NAME } from './environment.ts';
import { loadFunctions } from './gateway/functions.ts';
import { gatewayCounts } from './gateway/throttles.ts';
import { type Completed, gateway } from './gateway.ts';
import { localAdministration } from './local-administration.ts';
import { isLocalPath, localPaths } from './local-paths.ts';
import { listenOnLoopback, type Serve } from './loopback-server.ts';
import { writePrivateJson } from './private-file.ts';
import { forgetUse } from './reset.ts';
import { type DatabaseOptions, openLocalTable } from './table.ts';

/** The options of the local service. */
export interface ServiceOptions extends DatabaseOptions, FolderOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly onCompleted: (completed: Completed) => void;
  /** The file of a provider secret with the addresses of simulated providers, which are called in place of the sandbox. */
  readonly providerSecretFile?: string | undefined;
}

/** The content of `.local/demo.json`: the URL of the service and the keys to call it with. */
export type Demo = { readonly base_url: string } & DemoSellers;

export interface Service {
  readonly demo: Demo;
  /** Resolves with a sentence when a part that the service needs ends by itself. */
  readonly broken: Promise<string>;
  /** Lets requests in flight finish, then ends every part, the last one first. */
  stop(): Promise<void>;
}

/** Starts every part. If one does not start, ends those before it and rejects; the port is free when the process ends. */
export const startService = async (options: ServiceOptions): Promise<Service> => {
  await using parts = new AsyncDisposableStack();
  const service = await start(options, parts);
  const running = parts.move();
  return { ...service, stop: () => running.disposeAsync() };
};

const start = async (
  options: ServiceOptions,
  parts: AsyncDisposableStack,
): Promise<Omit<Service, 'stop'>> => {
  const { inMemory, onProgress, onCompleted, providerSecretFile } = options;
  const { promise: ready, resolve: open } = Promise.withResolvers<Serve>();
  // Requests that come early wait until the service is ready.
  const server = await listenOnLoopback(options.port, async (...exchange) => (await ready)(...exchange));
  const baseUrl = `http://localhost:${server.port}`;
  const folder = await openFolder(options, parts);
  const { database, table } = await openLocalTable(options, folder, parts);
  const apiGateway = await startApiGateway({
    file: inMemory ? undefined : folder.usagePlansFile,
    clock: systemClock,
  });
  parts.defer(apiGateway.close);

  onProgress('Loading the functions.');
  await writePages(folder.pagesFolder);
  setEnvironment({ baseUrl, databaseEndpoint: database.endpoint, folder, providerSecretFile });
  const counts = gatewayCounts(systemClock);
  const serveApi = gateway({
    functions: await loadFunctions(),
    usagePlans: apiGateway,
    otpAccess: chosenOtpAccess(),
    counts,
    clock: systemClock,
    onCompleted,
  });

  onProgress('Making sure that the demo sellers and their keys exist.');
  const sellers = await seedDemo(inMemory ? undefined : folder.path, {
    admin: cachedPromise(() => openAdministration(table, apiGateway.access, parts)),
    sellers: sellerStore(table),
    secrets: keySecretStore(table),
    isInPlan: (usageId) => apiGateway.throttleOf(usageId) !== undefined,
  });
  await registerExampleBuyer(buyerStore(table), folder.hashSecretFile);
  const demo = { base_url: baseUrl, ...sellers };

  const reset = (): Promise<number> => {
    counts.clear();
    return forgetUse(table);
  };
  const serveLocal = localPaths({ demo, reset });
  open((request, response) => (isLocalPath(request) ? serveLocal : serveApi)(request, response));
  await announce({ folder, demo, database, apiGateway: apiGateway.access }, parts);
  // Closed first: requests in flight need every other part.
  parts.defer(server.close);
  return { demo, broken: database.died };
};

/**
 * Returns the admin operations, for the seeding. It loads the SDK client of API Gateway, which a service whose demo keys still work does
 * not need.
 */
const openAdministration = async (
  table: Table,
  access: ApiGatewayAccess,
  parts: AsyncDisposableStack,
): Promise<Administration> => {
  const { localUsagePlans } = await import('./api-gateway/client.ts');
  const { usagePlans, close } = localUsagePlans(access);
  parts.defer(close);
  return localAdministration(table, usagePlans);
};

interface Announcement {
  readonly folder: DataFolder;
  readonly demo: Demo;
  readonly database: Database;
  readonly apiGateway: ApiGatewayAccess;
}

/** Writes the files by which scripts and the admin CLI reach the service. The first one is removed at the end. */
const announce = async (
  { folder, demo, database, apiGateway }: Announcement,
  parts: AsyncDisposableStack,
): Promise<void> => {
  await writeAdminTarget(folder.path, {
    base_url: demo.base_url,
    api_gateway_endpoint: apiGateway.endpoint,
    api_gateway_access_key_id: apiGateway.accessKeyId,
    dynamodb_endpoint: database.endpoint,
    table_name: TABLE_NAME,
    key_prefix: KEY_PREFIX,
    hash_secret_path: folder.hashSecretFile,
  });
  parts.defer(() => rm(folder.demoFile, { force: true }));
  await writePrivateJson(folder.demoFile, demo);
};
