import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type Fault, isApiFault, type WireFault } from './faults.ts';
import type { SimulatedProvider, SimulatedReply, SimulatedRequest } from './simulated-provider.ts';
import { applyWireFault } from './wire-faults.ts';

/** A simulated provider on its own port. */
export interface SimulatorServer {
  readonly baseUrl: string;
  fault(): Fault | undefined;
  /** Sets the fault of all operations or of one. A closed port affects all. */
  setFault(fault: Fault | undefined, operation?: string): Promise<void>;
  /** Returns the number of requests by operation, failed ones included. */
  calls(): Readonly<Record<string, number>>;
  close(): Promise<void>;
}

const HOST = '127.0.0.1';
/** With these faults the provider processes the request and the response is damaged. With the others it does not process it. */
const DAMAGES_RESPONSE: readonly WireFault[] = ['wrong_types', 'huge_body', 'truncated_body'];

const MAX_REQUEST_BYTES = 64 * 1024;

/** Starts a simulator on a free port of the loopback address. */
export const startSimulator = async (provider: SimulatedProvider): Promise<SimulatorServer> => {
  let fault: Fault | undefined;
  let faultyOperation: string | undefined;
  const counts = new Map<string, number>();
  const count = (operation: string) => counts.set(operation, (counts.get(operation) ?? 0) + 1);

  const replyTo = (request: SimulatedRequest): SimulatedReply => {
    const operation = provider.operationOf(request);
    count(operation ?? 'unknown_path');
    if (operation === undefined) return provider.unknownPath;
    if (fault === undefined || (faultyOperation ?? operation) !== operation) {
      return provider.respond(request, operation, undefined);
    }
    if (isApiFault(fault)) return provider.respond(request, operation, fault);
    if (!DAMAGES_RESPONSE.includes(fault)) return { wireFault: fault };
    const reply = provider.respond(request, operation, undefined);
    return 'json' in reply ? { wireFault: fault, json: reply.json } : reply;
  };

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = replyTo(await receive(incoming));
    if ('wireFault' in reply) applyWireFault(reply.wireFault, response, reply.json);
    else respond(response, reply);
  };

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, HOST);
  await once(server, 'listening');
  const { port } = server.address() as { port: number };

  return {
    baseUrl: `http://${HOST}:${port}`,
    fault: () => fault,
    calls: () => Object.fromEntries(counts),
    async setFault(next, operation) {
      fault = next;
      faultyOperation = operation;
      if (next === 'connection_refused') await stop(server);
      else if (!server.listening) await listenAgain(server, port);
    },
    close: () => stop(server),
  };
};

const receive = async (incoming: IncomingMessage): Promise<SimulatedRequest> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_REQUEST_BYTES) throw new Error('the request is too large');
    chunks.push(chunk);
  }
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator');
  return {
    method: incoming.method ?? '',
    path: pathname,
    query: searchParams,
    headers: incoming.headers,
    body: Buffer.concat(chunks).toString('utf8'),
  };
};

const respond = (response: ServerResponse, { status, json }: { status: number; json: unknown }): void => {
  response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(json));
};

/** Closes the server and its connections at once, those that hang by design included. */
const stop = async (server: Server): Promise<void> => {
  if (!server.listening) return;
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
};

const listenAgain = async (server: Server, port: number): Promise<void> => {
  server.listen(port, HOST);
  await once(server, 'listening');
};
