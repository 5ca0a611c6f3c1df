import {
  type RunningService,
  removeDataFolder,
  type StartOptions,
  startRunningService,
} from './running-service.ts';

/** Starts the service before the tests of a file, and removes it with its data after them. */
export const useService = (options?: StartOptions): RunningService => {
  let started: RunningService;
  beforeAll(async () => {
    started = await startRunningService(options);
  });
  afterAll(async () => {
    await started.stop();
    await removeDataFolder(started.folder);
  });
  return {
    get demo() {
      return started.demo;
    },
    get folder() {
      return started.folder;
    },
    get process() {
      return started.process;
    },
    terminal: () => started.terminal(),
    stop: (signal) => started.stop(signal),
  };
};
