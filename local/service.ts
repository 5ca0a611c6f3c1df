import { rm } from 'node:fs/promises';
import { buyerStore } from '#shared/buyers/store.ts';
import { cachedPromise } from '#shared/cached-promise.ts';
import { systemClock } from '#shared/clock.ts';
import { type FolderOptions, openFolder } from './data-folder.ts';
import { type Demo, keysByScope, registerExampleBuyer, seedDemo } from './demo-seeds.ts';
import { chosenOtpAccess, setEnvironment } from './environment.ts';
import { loadFunctions } from './gateway/functions.ts';
import { gatewayCounts } from './gateway/throttles.ts';
import { type Completed, gateway } from './gateway.ts';
import { localAdministration } from './local-administration.ts';
import { isLocalPath, localPaths } from './local-paths.ts';
import { listenOnLoopback, type Serve } from './loopback-server.ts';
import { writePrivateJson } from './private-file.ts';
import { forgetUse } from './reset.ts';
import { type DatabaseOptions, openLocalTable } from './table.ts';
import { gatewayPlans, usagePlansTable } from './usage-plans.ts';

/** The options of the local service. */
export interface ServiceOptions extends DatabaseOptions, FolderOptions {
  /** 0: any free one. */
  readonly port: number;
  readonly onCompleted: (completed: Completed) => void;
  /** The file of a provider secret with the addresses of simulated providers, which are called in place of the sandbox. */
  readonly providerSecretFile?: string | undefined;
}

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
  const usagePlans = gatewayPlans(usagePlansTable(table), systemClock);

  onProgress('Loading the functions.');
  setEnvironment({ baseUrl, databaseEndpoint: database.endpoint, folder, providerSecretFile });
  const counts = gatewayCounts(systemClock);
  const serveApi = gateway({
    functions: await loadFunctions(
      cachedPromise(async () => {
        const { writePages } = await import('#reference/pages/write-pages.ts');
        await writePages(folder.pagesFolder);
      }),
    ),
    usagePlans,
    otpAccess: chosenOtpAccess(),
    counts,
    clock: systemClock,
    onCompleted,
  });

  onProgress('Making sure that the demo sellers and their keys exist.');
  const sellers = await seedDemo(inMemory ? undefined : folder.path, {
    admin: localAdministration(table, 'local:npm start'),
    isInPlan: async (usageId) => (await usagePlans.throttleOf(usageId)) !== undefined,
  });
  await registerExampleBuyer(buyerStore(table), folder.hashSecretFile);
  const demo = {
    base_url: baseUrl,
    dynamodb_endpoint: database.endpoint,
    table_name: table.name,
    ...sellers,
  };

  const reset = (): Promise<number> => {
    counts.clear();
    return forgetUse(table);
  };
  const serveLocal = localPaths({ ...sellers, keys_by_scope: keysByScope(sellers.keys) }, reset);
  open((request, response) => (isLocalPath(request) ? serveLocal : serveApi)(request, response));
  parts.defer(() => rm(folder.demoFile, { force: true }));
  await writePrivateJson(folder.demoFile, demo);
  // Closed first: requests in flight need every other part.
  parts.defer(server.close);
  return { demo, broken: database.died };
};
