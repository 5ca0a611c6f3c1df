import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { GuardMessage, GuardOptions } from './database-guard.ts';
import { StartupError } from './startup-error.ts';

/** A DynamoDB to connect to. */
export interface Database {
  readonly endpoint: string;
  /** The access key that it takes. */
  readonly accessKeyId: string;
  /** Resolves with a sentence when the database ends although `stop` was not called. */
  readonly died: Promise<string>;
  /** Ends the database and waits for its end, so that its file is complete. */
  stop(): Promise<void>;
}

/** The options of the embedded database. */
export interface EmbeddedOptions {
  /** The SQLite file; in memory if it is left out. */
  readonly file?: string | undefined;
  /** The only access key that may connect. */
  readonly accessKeyId: string;
}

const START_ATTEMPTS = 3;
const READY_WITHIN_MS = 10_000;
const GUARD = fileURLToPath(new URL('./database-guard.ts', import.meta.url));

/** Starts the embedded database. It never outlives this process. Throws a StartupError with the reason if it does not start. */
export const startDatabase = async (options: EmbeddedOptions): Promise<Database> => {
  const binary = binaryPath();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce({ ...options, binary });
    } catch (error) {
      // Another process may have taken the free port meanwhile: the next attempt chooses another one.
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
  const exited = once(guard, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  const { listening, ended } = messagesOf(guard);
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    guard.ref();
    if (guard.connected) guard.disconnect();
    await exited;
  };
  guard.send(options);
  const timeout = sleep(READY_WITHIN_MS, undefined, { ref: false });
  const first = await Promise.race([
    listening,
    ended,
    exited.then(() => 'the guard process failed'),
    timeout,
  ]);
  if (typeof first !== 'object') {
    await stop();
    throw new StartupError(`The embedded database did not start: ${first ?? 'it did not respond'}.`);
  }
  // A database that was not stopped must not keep this process running; it ends with the process.
  guard.unref();
  guard.channel?.unref();
  const died = new Promise<string>((resolve) => {
    ended.then((how) => stopping || resolve(`The embedded database ended: ${how}.`));
    exited.then(([code, signal]) => {
      if (stopping) return;
      killIfRunning(first.databasePid);
      resolve(`The guard process of the embedded database ended: ${signal ?? `exit code ${code}`}.`);
    });
  });
  return { endpoint: `http://127.0.0.1:${first.port}`, accessKeyId: options.accessKeyId, died, stop };
};

/** The two messages of the guard, each as a promise. */
const messagesOf = (guard: ChildProcess) => {
  const listening = Promise.withResolvers<GuardMessage & { event: 'listening' }>();
  const ended = Promise.withResolvers<string>();
  guard.on('message', (message: GuardMessage) => {
    if (message.event === 'listening') listening.resolve(message);
    else ended.resolve(message.how);
  });
  return { listening: listening.promise, ended: ended.promise };
};

/** A guard that was killed leaves its database running. */
const killIfRunning = (pid: number): void => {
  try {
    process.kill(pid);
  } catch {
    // It has ended already.
  }
};
