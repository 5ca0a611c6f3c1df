import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import * as v from 'valibot';
import type { Table } from '#shared/table/client.ts';
import { type DataFolder, readIfThere, writePrivateJson } from './data-folder.ts';
import { damagedFile, StartupError } from './startup-error.ts';

/** A DynamoDB to connect to. */
export interface Database {
  readonly endpoint: string;
  /** Resolves with a sentence when the database has ended. */
  readonly died: Promise<string>;
  /** Ends the database and waits for its end, so that its file is complete. */
  stop(): Promise<void>;
}

/** The files of the embedded database; without a table file its data is in memory. */
type DatabaseFiles = Partial<Pick<DataFolder, 'tableFile' | 'databasePidFile'>>;

/** Unreachable from other machines. */
const HOST = '127.0.0.1';

const READY_WITHIN_MS = 10_000;
const KILL_AFTER_MS = 5000;
const POLL_MS = 25;
/** The database writes this line once it has opened its file and its port. */
const LISTENING = /^Dynoxide listening on .*\n/m;
/** How much of the database's error output is kept for the message about its end. */
const KEPT_OUTPUT_CHARACTERS = 1000;
/** What the embedded database writes about a file that it cannot read. */
const DAMAGED = /not a valid SQLite database|malformed/;

const PORT_IN_USE = /port \d+ is already in use/;

/** Starts the embedded database. Throws a StartupError with the reason if it does not start. */
export const startDatabase = async (files: DatabaseFiles = {}, chosenPort?: number): Promise<Database> => {
  const { tableFile, databasePidFile } = files;
  if (databasePidFile !== undefined) await endAbandoned(databasePidFile);
  const port = chosenPort ?? (await freePort());
  const endpoint = `http://${HOST}:${port}`;
  const child = spawnDatabase(port, tableFile);
  const { listening, ended } = progressOf(child);
  const stop = stopOf(child, databasePidFile);
  if (databasePidFile !== undefined && child.pid !== undefined) {
    await writePrivateJson(databasePidFile, { pid: child.pid, endpoint });
  }
  const tooLate = sleep(READY_WITHIN_MS, 'it did not respond', { ref: false });
  const isListening = await Promise.race([listening, ended, tooLate]);
  if (isListening !== true) {
    await stop();
    // Another program was faster.
    if (PORT_IN_USE.test(isListening)) return startDatabase(files);
    if (tableFile !== undefined && DAMAGED.test(isListening))
      throw damagedFile(tableFile, 'it is not a SQLite database');
    throw new StartupError(`The embedded database did not start: ${isListening}.`);
  }
  // A database that was not stopped must not keep this process running; it ends with the process.
  child.unref();
  (child.stderr as Socket).unref();
  const died = ended.then((how) => `The embedded database ended: ${how}. Start again with npm start.`);
  return { endpoint, died, stop };
};

const spawnDatabase = (port: number, tableFile: string | undefined) => {
  const args = ['serve', '--host', HOST, '--port', String(port)];
  // A process group of its own: Ctrl-C reaches only the service, and requests in flight still find their database.
  return spawn(binaryPath(), tableFile === undefined ? args : [...args, '--db-path', tableFile], {
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
    windowsHide: true,
  });
};

type DatabaseProcess = ReturnType<typeof spawnDatabase>;

/** `listening` resolves when the database has opened its file and its port; `ended` with how it ended and its last output. */
const progressOf = (child: DatabaseProcess) => {
  let output = '';
  const listening = Promise.withResolvers<true>();
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    output = `${output}${chunk}`.slice(-KEPT_OUTPUT_CHARACTERS);
    if (!LISTENING.test(output)) return;
    output = output.replace(LISTENING, '');
    listening.resolve(true);
  });
  const ended = once(child, 'close').then(
    ([code, signal]) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      return output.trim() === '' ? how : `${how} (its last output: ${output.trim()})`;
    },
    ({ message }: Error) => message,
  );
  return { listening: listening.promise, ended };
};

/** Returns what ends the database, waits for that and removes the file with its process. The end of this process ends it too. */
const stopOf = (child: DatabaseProcess, pidFile: string | undefined) => {
  const closed = once(child, 'close').catch(() => {});
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  return async (): Promise<void> => {
    child.ref();
    child.kill('SIGTERM');
    const timer = setTimeout(kill, KILL_AFTER_MS);
    await closed;
    clearTimeout(timer);
    process.off('exit', kill);
    if (pidFile !== undefined) await rm(pidFile, { force: true });
  };
};

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

const pidSchema = v.pipe(v.string(), v.parseJson(), v.object({ pid: v.number(), endpoint: v.string() }));

/** Ends the database that a killed service left behind. A process that does not answer as a database has only got its number. */
const endAbandoned = async (pidFile: string): Promise<void> => {
  const { success, output } = v.safeParse(pidSchema, await readIfThere(pidFile));
  if (!success || !(await isDatabase(output.endpoint))) return;
  const { pid, endpoint } = output;
  process.kill(pid, 'SIGKILL');
  while (await isDatabase(endpoint)) await sleep(POLL_MS);
};

const isDatabase = async (endpoint: string): Promise<boolean> => {
  const response = await fetch(endpoint, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
  return response?.headers.get('server')?.startsWith('Dynoxide') === true;
};

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await server[Symbol.asyncDispose]();
  return port;
};

/** Creates the table with the keys that the data stack gives it, if it is missing. */
export const ensureTable = async ({ client, name: TableName }: Table): Promise<void> => {
  const keys = [
    ['pk', 'HASH'],
    ['sk', 'RANGE'],
  ] as const;
  const create = new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: keys.map(([AttributeName]) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: keys.map(([AttributeName, KeyType]) => ({ AttributeName, KeyType })),
  });
  await client.send(create).catch((error: Error) => {
    if (error.name !== 'ResourceInUseException') throw error;
  });
};
