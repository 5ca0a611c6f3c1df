/**
 * The process that runs the embedded database for the service and opens a gate to it (database-gate.ts). It ends the database when the
 * service ends, also when the service is killed: the IPC channel closes then. It has its own process group, so Ctrl-C in the terminal
 * reaches only the service, and requests in flight still find their database.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
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
  | { readonly port: number; readonly databasePid: number }
  | { readonly ended: string };

const KILL_AFTER_MS = 5000;
/** The database writes this line once it has opened its file and its port. A part of it without its end is not enough: the rest follows. */
const LISTENING = /^Dynoxide listening on .*\n/m;
/** How much of the database's error output is kept for the message about its end. */
const KEPT_OUTPUT_CHARACTERS = 1000;

/**
 * A random loopback address. On Linux and Windows all of 127.0.0.0/8 is loopback: with the port, 39 random bits that no web page can
 * search. On macOS only 127.0.0.1 is, and the port alone is random. If another program has the port, the database ends and the service
 * starts another guard.
 */
const randomAddress = (): { readonly host: string; readonly port: number } => ({
  host:
    process.platform === 'darwin'
      ? '127.0.0.1'
      : ['127', ...[0, 0, 0].map(() => randomInt(1, 255))].join('.'),
  port: randomInt(1024, 32_768),
});

const end = (how: string): void => {
  const exit = (): never => process.exit(1);
  if (process.connected) process.send?.({ ended: how } satisfies GuardMessage, exit);
  else exit();
};

process.once('message', ({ binary, file, accessKeyId }: GuardOptions) => {
  const { host, port } = randomAddress();
  const options = [
    '--host',
    host,
    '--port',
    String(port),
    ...(file === undefined ? [] : ['--db-path', file]),
  ];
  const database = spawn(binary, ['serve', ...options], {
    stdio: ['ignore', 'ignore', 'pipe'],
    windowsHide: true,
  });
  const stop = (): void => {
    database.kill('SIGTERM');
    setTimeout(() => database.kill('SIGKILL'), KILL_AFTER_MS).unref();
  };
  process.once('disconnect', stop);
  process.once('SIGTERM', stop);
  let output = '';
  database.once('error', ({ message }) => end(message));
  // "close" comes after the last output, "exit" may come before it.
  database.once('close', (code, signal) => {
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    end(output.trim() === '' ? how : `${how} (its last output: ${output.trim()})`);
  });
  database.stderr.setEncoding('utf8').on('data', async (chunk: string) => {
    output = `${output}${chunk}`.slice(-KEPT_OUTPUT_CHARACTERS);
    if (!LISTENING.test(output)) return;
    output = output.replace(LISTENING, '');
    const gate = databaseGate({ host, port, accessKeyId }).listen(0, '127.0.0.1');
    await once(gate, 'listening');
    const listening = { port: (gate.address() as AddressInfo).port, databasePid: database.pid as number };
    process.send?.(listening satisfies GuardMessage);
  });
});
