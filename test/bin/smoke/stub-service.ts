import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

/** A service that responds to every path in the same way. */
export const startStub = async (respond: (path: string, response: ServerResponse) => void) => {
  const server = createServer((request, response) => respond(request.url ?? '', response)).listen(
    0,
    '127.0.0.1',
  );
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `http://127.0.0.1:${port}`,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  };
};
