import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** When a program is killed: at which of its requests, and whether the request is forwarded and answered first. */
export interface Kill {
  readonly request: number;
  readonly isAnswered: boolean;
}

/** Forwards a program's requests to the service, and kills the program at one of them. */
export const startKillingProxy = async (serviceUrl: string) => {
  let [victim, kill, count]: [ChildProcess | undefined, Kill | undefined, number] = [undefined, undefined, 0];
  const waiting = new Map<string, () => void>();

  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const reply = await fetch(`${serviceUrl}${request.url}`, {
      headers: { 'X-Api-Key': String(request.headers['x-api-key']) },
    });
    response.writeHead(reply.status, { 'Content-Type': String(reply.headers.get('content-type')) });
    response.end(await reply.text());
  };

  const server = createServer(async (request, response) => {
    count += 1;
    waiting.get(String(request.url))?.();
    const isLast = count === kill?.request;
    if (isLast && !kill?.isAnswered) {
      victim?.kill('SIGKILL');
      response.destroy();
      return;
    }
    if (isLast) response.once('close', () => victim?.kill('SIGKILL'));
    await forward(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Counts the requests of this program, and kills it at one of them. Without a kill it lives. */
    watch(program: ChildProcess, next?: Kill): void {
      [victim, kill, count] = [program, next, 0];
    },
    /** Resolves when a program requests this path, with its query. */
    requested: (path: string): Promise<void> => new Promise((resolve) => waiting.set(path, resolve)),
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

export type KillingProxy = Awaited<ReturnType<typeof startKillingProxy>>;
