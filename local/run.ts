import { styleText } from 'node:util';
import { errorFields, logEvent } from '#shared/log.ts';
import { chosenDatabaseEndpoint, isStartedByNpm } from './environment.ts';
import { type ServiceOptions, startService } from './service.ts';
import { startupReason } from './startup-error.ts';
import { readyText, requestLine } from './terminal.ts';

/** One Ctrl-C under npm arrives twice within this time: from the terminal, and from npm, which forwards it. */
const SAME_KEYSTROKE_MS = 500;
const PARENT_POLL_MS = 100;

/** Respects NO_COLOR. */
const isColored = process.stdout.isTTY && process.stdout.hasColors();

let isEnding = false;

/** Prints a line of the running service. Once the reason of its end is printed, nothing may come after it. */
const say = (text: string): void => {
  if (!isEnding) console.log(text);
};

/** Resolves when the service should stop. A later second signal ends the process at once. */
const stopRequest = (): Promise<string> =>
  new Promise((resolve) => {
    let firstAtMs: number | undefined;
    const onSignal = (): void => {
      if (firstAtMs !== undefined && performance.now() - firstAtMs > SAME_KEYSTROKE_MS) process.exit(1);
      firstAtMs ??= performance.now();
      resolve('Stopping after the requests in flight. Press Ctrl-C again to stop at once.');
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    if (!isStartedByNpm()) return;
    // A signal to npm ends npm and the shell in which npm runs this process, but does not reach this process.
    const parent = process.ppid;
    setInterval(() => {
      if (process.ppid !== parent) resolve('Stopping: npm was stopped.');
    }, PARENT_POLL_MS);
  });

/** What the program of a service decides; the rest comes from the environment. */
type RunOptions = Pick<ServiceOptions, 'port' | 'folder' | 'inMemory' | 'providerSecretFile'>;

/** Runs the service until it is stopped and prints what happens. Returns the exit code: 0 when it was stopped, 1 when it cannot run. */
export const runService = async (options: RunOptions): Promise<number> => {
  // The service still has to stop in order when its terminal is closed.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  // On AWS such an error ends one container of one function; here it must not end the whole service. The log gets its redacted text.
  process.on('unhandledRejection', (error) => {
    logEvent('request_failed', { operation: 'local', ...errorFields(error) });
    if (!isEnding) console.error('An unexpected error happened outside a request: see service.log.');
  });
  try {
    return await runUntilEnd(options);
  } catch (error) {
    console.error(startupReason(error, options.folder));
    return 1;
  }
};

const runUntilEnd = async (options: RunOptions): Promise<number> => {
  const stopRequested = stopRequest();
  const service = await startService({
    ...options,
    databaseEndpoint: chosenDatabaseEndpoint(),
    onProgress: say,
    onCompleted: (completed) => say(requestLine(completed, { now: new Date(), isColored })),
    onTrouble: (sentence) => say(isColored ? styleText('red', sentence) : sentence),
  });
  say(readyText(service.demo));
  const broken = service.broken.then((reason) => ({ reason, exitCode: 1 }));
  const end = await Promise.race([broken, stopRequested.then((reason) => ({ reason, exitCode: 0 }))]);
  say(`\n${end.reason}`);
  isEnding = end.exitCode === 1;
  await service.stop();
  say('Stopped.');
  return end.exitCode;
};
