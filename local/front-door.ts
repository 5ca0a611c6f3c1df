import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenOnLoopback } from './loopback-server.ts';

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The port of the service. It is taken before anything else is started; who comes early waits until the service is there. */
export interface FrontDoor {
  readonly port: number;
  /** From here on requests are served, those that waited first. */
  open(serve: Serve): void;
  /** Takes no new request, lets those in flight finish, frees the port. */
  close(): Promise<void>;
}

export const frontDoor = async (port: number): Promise<FrontDoor> => {
  const { promise: opened, resolve: open, reject } = Promise.withResolvers<Serve>();
  // Nobody may be waiting when it is closed without ever having been opened.
  opened.catch(() => {});
  const server = await listenOnLoopback(port, async (request, response) => {
    const serve = await opened;
    await serve(request, response);
  });
  let closing: Promise<void> | undefined;
  return {
    port: server.port,
    open,
    close() {
      reject(new Error('the service did not start'));
      closing ??= server.close();
      return closing;
    },
  };
};
