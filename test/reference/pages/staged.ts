import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Serves the service under a stage path, as API Gateway does: `/dev/docs` here is `/docs` there. */
export const behindStage = async (baseUrl: string, stage: string) => {
  const server = createServer(async (request, response) => {
    const [, ownStage, ...rest] = (request.url ?? '').split('/');
    if (ownStage !== stage) {
      response.writeHead(403).end();
      return;
    }
    const key = request.headers['x-api-key'];
    const forwarded = await fetch(`${baseUrl}/${rest.join('/')}`, {
      method: request.method ?? 'GET',
      headers: typeof key === 'string' ? { 'X-Api-Key': key } : {},
    });
    const { 'content-encoding': _, 'content-length': __, ...headers } = Object.fromEntries(forwarded.headers);
    response.writeHead(forwarded.status, headers).end(Buffer.from(await forwarded.arrayBuffer()));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/${stage}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
