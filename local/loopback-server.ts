import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { jsonText, PROBLEM_CONTENT_TYPE } from '#shared/http/responses.ts';
import { PROBLEMS, type ProblemCode, problemBody } from '#shared/problems.ts';
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

/** The limit of API Gateway. */
const MAX_HEADER_BYTES = 10_240;
/** The connection is closed if the headers, or the whole request, take longer. */
const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 30_000;
const CHECK_TIMEOUTS_EVERY_MS = 2000;
/** Functions may take up to 20 s. After Ctrl-C they get less. */
const DRAIN_MS = 10_000;
const ANY_PORT_ATTEMPTS = 5;

/** Listens on the loopback addresses of this machine. `port` 0: any free one. Throws a StartupError if the port is taken. */
export const listenOnLoopback = async (port: number, serve: Serve): Promise<LoopbackServer> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const servers = await listenOnBoth(port, serve);
      return { port: portOf(servers[0] as Server), close: () => closeAll(servers) };
    } catch (error) {
      // A port that is free on one address may be taken on the other.
      if (port !== 0 || attempt === ANY_PORT_ATTEMPTS) throw error;
    }
  }
};

const portOf = (server: Server): number => (server.address() as AddressInfo).port;

const listenOnBoth = async (port: number, serve: Serve): Promise<readonly Server[]> => {
  const servers: Server[] = [];
  for (const host of ADDRESSES) {
    const server = newServer(serve);
    try {
      server.listen(servers[0] === undefined ? port : portOf(servers[0]), host);
      await once(server, 'listening');
      servers.push(server);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A machine without IPv6.
      if (host === '::1' && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT')) continue;
      await closeAll(servers);
      throw startupError(error as NodeJS.ErrnoException, port);
    }
  }
  return servers;
};

const startupError = (error: NodeJS.ErrnoException, port: number): Error => {
  if (error.code === 'EACCES') return new StartupError(`This user may not listen on port ${port}.`);
  if (error.code !== 'EADDRINUSE') return error;
  return new StartupError(
    `Port ${port} is taken: stop what listens there, or choose another one with --port.`,
  );
};

const newServer = (serve: Serve): Server => {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    response.on('error', () => {});
    // While the server closes, each response is the last one of its connection.
    response.once('close', () => server.listening || setImmediate(() => server.closeIdleConnections()));
    request.url = toOriginForm(request.url ?? '');
    serve(request, response).catch(() => response.destroy());
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEADERS_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: CHECK_TIMEOUTS_EVERY_MS,
      // Without this and the listeners below Node responds with its own texts.
      requireHostHeader: false,
    },
    onRequest,
  );
  server.on('checkExpectation', onRequest);
  server.on('connect', (_request, socket: Socket) => refuse(socket, 'not_found'));
  server.on('clientError', refuseUnreadable);
  return server;
};

/** A client that takes the server for a proxy sends the whole URL (RFC 9112 §3.2.2): only its path and query are used. */
const toOriginForm = (target: string): string => target.replace(/^https?:\/\/[^/?]*/i, '');

/** Refuses invalid HTTP, too many headers and slow requests, with the nearest code of the closed list of problems. */
const refuseUnreadable = (error: NodeJS.ErrnoException, socket: Socket): void => {
  if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
  else refuse(socket, error.code === 'HPE_INVALID_METHOD' ? 'not_found' : 'malformed_json');
};

/** Writes a problem to a connection without a response object, and closes it. */
const refuse = (socket: Socket, code: ProblemCode): void => {
  const requestId = randomUUID();
  const body = jsonText(problemBody(code, requestId));
  const { status } = PROBLEMS[code];
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `X-Request-Id: ${requestId}`,
    'Cache-Control: no-store',
    `Content-Type: ${PROBLEM_CONTENT_TYPE}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
};

const closeAll = async (servers: readonly Server[]): Promise<void> => {
  const closed = Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
  await Promise.race([closed, sleep(DRAIN_MS, undefined, { ref: false })]);
  for (const server of servers) server.closeAllConnections();
  await closed;
};
