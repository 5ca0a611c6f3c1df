import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';

/** The number of users on the page. */
const USERS = 20;

const user = (ordinal: number) => ({
  pk: { S: 'USERS#sel_bench' },
  sk: { S: String(ordinal).padStart(12, '0') },
  id: { S: `usr_${String(ordinal).padStart(22, '0')}` },
  national_id_last_four: { S: '0829' },
  birth_date: { S: '1370/1/15' },
  phone: { S: '+989550000000' },
  display_name: { S: `Person ${ordinal}` },
  created_at: { S: '2026-01-01T00:00:00.000Z' },
});

const seller = { pk: { S: 'SELLER#sel_bench' }, sk: { S: 'SELLER' }, user_count: { N: String(USERS) } };

/** A fixed response for each operation, returned at once, so that only the caller is measured. */
const RESPONSES: Readonly<Record<string, unknown>> = {
  GetItem: { Item: seller },
  Query: { Items: Array.from({ length: USERS }, (_, index) => user(index + 1)), Count: USERS },
  UpdateItem: { Attributes: { count: { N: '1' } } },
};

/** Starts a server that responds as DynamoDB does, over TLS: with an http:// endpoint the SDK would load modules that it does not need on AWS. */
export const startTable = async (tls: { readonly cert: string; readonly key: string }) => {
  const server: Server = createServer(tls, (request, response) => {
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    request.resume().once('end', () => {
      response.writeHead(operation in RESPONSES ? 200 : 400, {
        'Content-Type': 'application/x-amz-json-1.0',
      });
      response.end(
        JSON.stringify(RESPONSES[operation] ?? { __type: 'ValidationException', message: operation }),
      );
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `https://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
