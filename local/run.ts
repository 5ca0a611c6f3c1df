import { once } from 'node:events';
import { abortOnInterrupt } from '#admin/cli/interrupt.ts';
import { errorFields, logEvent } from '#shared/log.ts';
import { type ServiceOptions, startService } from './service.ts';
import { readyText, requestLine } from './service-output.ts';
import { StartupError } from './startup-error.ts';

let isEnding = false;

/** Prints a line of the running service. Once the reason of its end is printed, nothing may come after it. */
const say = (text: string): void => {
  if (!isEnding) console.log(text);
};

type RunOptions = Omit<ServiceOptions, 'onProgress' | 'onCompleted'>;

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

const STOPPING = 'Stopping after the requests in flight. Press Ctrl-C again to stop at once.';

const runUntilEnd = async (options: RunOptions): Promise<number> => {
  const { signal } = abortOnInterrupt(['SIGINT', 'SIGTERM', 'SIGHUP']);
  const stopRequested = once(signal, 'abort').then(() => STOPPING);
  const service = await startService({
    ...options,
    onProgress: say,
    onCompleted: (completed) => say(requestLine(completed, new Date())),
  });
  say(readyText(service.demo));
  let isStopping = false;
  // In the background, so that the first visit does not wait for it.
  service.buildSite().catch(() => {
    if (!isStopping) say('The documentation site cannot be built: "npm run site" says why.');
  });
  const broken = service.broken.then((reason) => ({ reason, exitCode: 1 }));
  const end = await Promise.race([broken, stopRequested.then((reason) => ({ reason, exitCode: 0 }))]);
  say(`\n${end.reason}`);
  isStopping = true;
  isEnding = end.exitCode === 1;
  await service.stop();
  say('Stopped.');
  return end.exitCode;
};

const FULL_DISK_CODES: readonly string[] = ['ENOSPC', 'EDQUOT'];
/** The embedded database has no code for it. */
const FULL_DATABASE = /database or disk is full/;

/** Returns what a person can do about an error of the start; the stack of an error that nobody expected. */
export const startupReason = (error: unknown, folder: string): string => {
  // A part that was started fails to end for the same reason: the first error is the one that counts.
  if (error instanceof SuppressedError) return startupReason(error.suppressed, folder);
  const { code = '', message, stack } = error as NodeJS.ErrnoException;
  if (FULL_DISK_CODES.includes(code) || FULL_DATABASE.test(message)) {
    return `The disk of ${folder} is full (${code === 'EDQUOT' ? code : 'ENOSPC'}): free some space, or choose another folder with --data.`;
  }
  return error instanceof StartupError ? message : String(stack);
};
