import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { GuardMessage, GuardOptions } from './database-guard.ts';
import { damagedFile, StartupError } from './startup-error.ts';

/** A DynamoDB to connect to. */
export interface Database {
  readonly endpoint: string;
  /** The access key that it takes. */
  readonly accessKeyId: string;
  /** Resolves with a sentence when the database has ended. */
  readonly died: Promise<string>;
  /** Ends the database and waits for its end, so that its file is complete. */
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const READY_WITHIN_MS = 10_000;
/** What the embedded database writes about a file that it cannot read. */
const DAMAGED = /not a valid SQLite database|malformed/;
const GUARD = fileURLToPath(new URL('./database-guard.ts', import.meta.url));

/**
 * Starts the embedded database, in memory without `file`. Only `accessKeyId` may connect. It never outlives this process. Throws a
 * StartupError with the reason if it does not start.
 */
export const startDatabase = async (options: Omit<GuardOptions, 'binary'>): Promise<Database> => {
  const binary = binaryPath();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce({ ...options, binary });
    } catch (error) {
      if (options.file !== undefined && DAMAGED.test((error as Error).message)) {
        throw damagedFile(options.file, 'it is not a SQLite database');
      }
      // Another program may have the random port: the next attempt chooses another one.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
};

/** A DynamoDB that this process did not start. */
export const foreignDatabase = (endpoint: string, accessKeyId: string): Database => ({
  endpoint,
  accessKeyId,
  died: new Promise(() => {}),
  stop: async () => {},
});

/** Returns the path of the binary in the optional dependency that npm installed. Throws a StartupError if the platform has none. */
export const binaryPath = (platform = `${process.platform}-${process.arch}`): string => {
  try {
    const packageJson = createRequire(import.meta.url).resolve(`@dynoxide/${platform}/package.json`);
    return join(dirname(packageJson), platform.startsWith('win32') ? 'dynoxide.exe' : 'dynoxide');
  } catch (cause) {
    throw new StartupError(
      `There is no embedded database for ${platform}: set DYNAMODB_ENDPOINT to the URL of a DynamoDB, such as DynamoDB Local, and start again.`,
      { cause },
    );
  }
};

const startOnce = async (options: GuardOptions): Promise<Database> => {
  const guard = spawn(process.execPath, [GUARD], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    detached: true,
    windowsHide: true,
  });
  const exited = once(guard, 'exit');
  const started = Promise.withResolvers<{ port: number; databasePid: number } | string>();
  const died = Promise.withResolvers<string>();
  guard.on('message', (message: GuardMessage) => {
    started.resolve('ended' in message ? message.ended : message);
    if ('ended' in message)
      died.resolve(`The embedded database ended: ${message.ended}. Start again with npm start.`);
  });
  guard.once('exit', (code, signal) => {
    started.resolve('the guard process failed');
    died.resolve(
      `The guard process of the embedded database ended: ${signal ?? `exit code ${code}`}. Start again with npm start.`,
    );
  });
  const stop = async (): Promise<void> => {
    guard.ref();
    if (guard.connected) guard.disconnect();
    await exited;
  };
  guard.send(options);
  const listening = await Promise.race([started.promise, sleep(READY_WITHIN_MS, undefined, { ref: false })]);
  if (typeof listening !== 'object') {
    await stop();
    throw new StartupError(`The embedded database did not start: ${listening ?? 'it did not respond'}.`);
  }
  guard.once('exit', () => killIfRunning(listening.databasePid));
  // A database that was not stopped must not keep this process running; it ends with the process.
  guard.unref();
  guard.channel?.unref();
  return {
    endpoint: `http://127.0.0.1:${listening.port}`,
    accessKeyId: options.accessKeyId,
    died: died.promise,
    stop,
  };
};

/** A guard that was killed leaves its database running. */
const killIfRunning = (pid: number): void => {
  try {
    process.kill(pid);
  } catch {
    // It has ended already.
  }
};
