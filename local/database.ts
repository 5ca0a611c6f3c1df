import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { StartupError } from './startup-error.ts';

/** A DynamoDB to talk to. */
export interface Database {
  readonly endpoint: string;
  /** Resolves with a sentence if the database ends by itself; never, if it was stopped. */
  readonly died: Promise<string>;
  /** Ends it and waits until it has: nothing is half-written then. */
  stop(): Promise<void>;
}

const START_ATTEMPTS = 3;
const READY_WITHIN_MS = 10_000;
/** What the database says once it has opened its file and its port. */
const LISTENING = 'Dynoxide listening on';

/** The embedded database: SQLite in `file`, or in memory if there is none. It never outlives this process. */
export const startDatabase = async (file?: string): Promise<Database> => {
  const binary = binaryPath();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnce(binary, file);
    } catch (error) {
      // The free port may have been taken by another process meanwhile: try again with another one.
      if (attempt === START_ATTEMPTS) throw error;
    }
  }
};

/** A database that somebody else runs. */
export const foreignDatabase = (endpoint: string): Database => ({
  endpoint,
  died: new Promise(() => {}),
  stop: async () => {},
});

/** The binary of a platform, from the optional dependency that npm chose. Throws a StartupError if there is none. */
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

const startOnce = async (binary: string, file: string | undefined): Promise<Database> => {
  const port = await freePort();
  const guard = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('./database-guard.ts', import.meta.url)),
      binary,
      ...['serve', '--host', '127.0.0.1', '--port', String(port)],
      ...(file === undefined ? [] : ['--db-path', file]),
    ],
    { stdio: ['pipe', 'ignore', 'pipe'], detached: true, windowsHide: true },
  );
  const exited = once(guard, 'exit');
  let stopping = false;
  const stop = async (): Promise<void> => {
    stopping = true;
    guard.stdin?.destroy();
    await exited;
  };
  const { listening, lastWords } = watch(guard.stderr);
  const timeout = sleep(READY_WITHIN_MS, false, { ref: false });
  const ready = await Promise.race([listening, exited.then(() => false), timeout]);
  if (!ready) {
    await stop();
    throw new StartupError(`The embedded database did not start: ${lastWords()}`);
  }
  const died = new Promise<string>((resolve) => {
    exited.then(() => stopping || resolve(`The embedded database ended by itself: ${lastWords()}`));
  });
  return { endpoint: `http://127.0.0.1:${port}`, died, stop };
};

/**
 * Reads what the database writes to stderr. That it listens is taken from there: an answer at its port may be another database's,
 * if the port was taken meanwhile.
 */
const watch = (stderr: Readable) => {
  let said = '';
  const listening = new Promise<true>((resolve) => {
    stderr.setEncoding('utf8').on('data', (chunk: string) => {
      said = `${said}${chunk}`.slice(-1000);
      if (said.includes(LISTENING)) resolve(true);
    });
  });
  return { listening, lastWords: () => said.trim() || 'it said nothing' };
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};
