import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { StartupError } from './startup-error.ts';

/** A server that only programs on this machine can reach. */
export interface LoopbackServer {
  readonly port: number;
  /** Accepts no new request, lets those in flight finish within 10 s, and frees the port. */
  close(): Promise<void>;
}

/** Serves a request. */
export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** `localhost` is the IPv4 address on some machines and the IPv6 address on others. */
const ADDRESSES = ['127.0.0.1', '::1'] as const;
/** Functions may take up to 20 s. After Ctrl-C they get less. */
const DRAIN_MS = 10_000;

/** Listens on the loopback addresses of this machine. `port` 0: any free one. Throws a StartupError if the port is taken. */
export const listenOnLoopback = async (port: number, serve: Serve): Promise<LoopbackServer> => {
  const servers: Server[] = [];
  let chosen = port;
  for (const host of ADDRESSES) {
    const server = newServer(serve);
    try {
      await once(server.listen(chosen, host), 'listening');
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      // A machine without IPv6.
      if (host === '::1' && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) continue;
      await closeAll(servers);
      if (code === 'EACCES') throw new StartupError(`This user may not listen on port ${port}.`);
      if (code !== 'EADDRINUSE') throw error;
      throw new StartupError(
        `Port ${chosen} is taken: stop what listens there, or choose another one with --port.`,
      );
    }
    servers.push(server);
    chosen = (server.address() as AddressInfo).port;
  }
  return { port: chosen, close: () => closeAll(servers) };
};

/** Node answers a request that it cannot read with a 400 of its own, as the front end of API Gateway does. */
const newServer = (serve: Serve): Server => {
  const server = createServer((request, response) => {
    response.on('error', () => {});
    // While the server closes, each response is the last one of its connection.
    response.once('close', () => server.listening || setImmediate(() => server.closeIdleConnections()));
    serve(request, response).catch(() => response.destroy());
  });
  return server;
};

const closeAll = async (servers: readonly Server[]): Promise<void> => {
  const closed = Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  await Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]);
  for (const server of servers) server.closeAllConnections();
  await closed;
};
