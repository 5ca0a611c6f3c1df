import type { IncomingMessage, ServerResponse } from 'node:http';
import { listenOnLoopback } from './loopback-server.ts';

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** The port of the service, taken before the other parts start. Requests that come early wait until the service is ready. */
export interface ReservedPort {
  readonly port: number;
  /** Serves the requests that wait and all later ones. */
  open(serve: Serve): void;
  /** Accepts no new request, lets those in flight finish, frees the port. */
  close(): Promise<void>;
}

/** Listens on the port; 0: any free one. */
export const reservePort = async (port: number): Promise<ReservedPort> => {
  const { promise: opened, resolve: open, reject } = Promise.withResolvers<Serve>();
  // No request may be waiting when the port is closed without having been opened.
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
