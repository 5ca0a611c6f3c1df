import { once } from 'node:events';
import { createServer, request as send } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** A proxy in front of a simulated registry. */
export interface SlowRegistry {
  readonly baseUrl: string;
  close(): void;
}

/** Starts a proxy that forwards each request to `target` after `delayMs`. */
export const startSlowRegistry = async (target: string, delayMs: number): Promise<SlowRegistry> => {
  const server = createServer(async (incoming, response) => {
    const { method, headers, url = '/' } = incoming;
    await pause(delayMs);
    const forwarded = send(new URL(url, target), { method, headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    incoming.pipe(forwarded);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
};
