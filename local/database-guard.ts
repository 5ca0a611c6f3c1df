/**
 * The process that runs the embedded database for the service and opens a gate to it (database-gate.ts). It ends the database when the
 * service ends, also when the service is killed: the IPC channel closes then. It has its own process group, so Ctrl-C in the terminal
 * reaches only the service, and requests in flight still find their database.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { databaseGate } from './database-gate.ts';

/** The only message that the service sends. */
export interface GuardOptions {
  readonly binary: string;
  /** The SQLite file; in memory if it is left out. */
  readonly file?: string | undefined;
  readonly accessKeyId: string;
}

/** A message of the guard to the service: the port of the gate once the database listens, and how the database ended. */
export type GuardMessage =
  | { readonly event: 'listening'; readonly port: number; readonly databasePid: number }
  | { readonly event: 'ended'; readonly how: string };

const KILL_AFTER_MS = 5000;
/** The database writes this line once it has opened its file and its port. */
const LISTENING = /^Dynoxide listening on .*\n?/m;
/** How much of the database's error output is kept for the message about its end. */
const KEPT_OUTPUT_CHARACTERS = 1000;

const report = (message: GuardMessage, then = (): void => {}): void => {
  if (process.connected) process.send?.(message, then);
  else then();
};

const run = async ({ binary, file, accessKeyId }: GuardOptions): Promise<void> => {
  const { host, port } = await freeAddress();
  const database = spawn(
    binary,
    ['serve', '--host', host, '--port', String(port), ...(file === undefined ? [] : ['--db-path', file])],
    { stdio: ['ignore', 'ignore', 'pipe'], windowsHide: true },
  );
  endWithService(database);
  let output = '';
  database.once('error', ({ message }) => report({ event: 'ended', how: message }, () => process.exit(1)));
  // "close" comes after the last output, "exit" may come before it.
  database.once('close', (code, signal) => {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    const written = output.trim() === '' ? '' : ` (its last output: ${output.trim()})`;
    report({ event: 'ended', how: `${how}${written}` }, () => process.exit(1));
  });
  database.stderr.setEncoding('utf8').on('data', async (chunk: string) => {
    output = `${output}${chunk}`.slice(-KEPT_OUTPUT_CHARACTERS);
    if (!LISTENING.test(output)) return;
    output = output.replace(LISTENING, '');
    const gate = databaseGate({ host, port, accessKeyId }).listen(0, '127.0.0.1');
    await once(gate, 'listening');
    report({ event: 'listening', port: portOf(gate), databasePid: database.pid ?? 0 });
  });
};

const endWithService = (database: ChildProcess): void => {
  const stop = (): void => {
    database.kill('SIGTERM');
    setTimeout(() => database.kill('SIGKILL'), KILL_AFTER_MS).unref();
  };
  process.once('disconnect', stop);
  process.once('SIGTERM', stop);
};

/**
 * A random loopback address and a free port. On Linux and Windows all of 127.0.0.0/8 is loopback: 39 random bits that no web page can
 * search. On macOS only 127.0.0.1 is, and the port alone is random.
 */
const freeAddress = async (): Promise<{ readonly host: string; readonly port: number }> => {
  const randomHost = `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
  for (const host of [randomHost, '127.0.0.1']) {
    const server = createServer();
    try {
      server.listen(0, host);
      await once(server, 'listening');
    } catch {
      continue;
    }
    const port = portOf(server);
    server.close();
    await once(server, 'close');
    return { host, port };
  }
  throw new Error('no free port on a loopback address');
};

const portOf = (server: Server): number => (server.address() as { port: number }).port;

process.once('message', (options: GuardOptions) => {
  run(options).catch(({ message }: Error) => report({ event: 'ended', how: message }, () => process.exit(1)));
});
