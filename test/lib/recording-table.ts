import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The verb that each part of a transaction is granted by. */
const VERBS: Readonly<Record<string, string>> = {
  Put: 'PutItem',
  Update: 'UpdateItem',
  ConditionCheck: 'ConditionCheckItem',
  Delete: 'DeleteItem',
};

const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** The actions that AWS would ask the caller's policy for. */
const actionsOf = (operation: string, body: string): string[] => {
  if (operation !== 'TransactWriteItems') return [operation];
  const { TransactItems } = JSON.parse(body) as {
    readonly TransactItems: readonly Record<string, unknown>[];
  };
  return TransactItems.flatMap((item) => Object.keys(item)).map((part) => VERBS[part] ?? part);
};

/** Stands before a database and notes what is asked of it. */
export const startRecordingTable = async (endpoint: string) => {
  let actions = new Set<string>();
  const server = createServer(async (request, response) => {
    const body = await textOf(request);
    const operation = String(request.headers['x-amz-target']).split('.')[1] ?? '';
    for (const action of actionsOf(operation, body)) actions.add(action);
    const { host: _own, 'content-length': _length, connection: _connection, ...headers } = request.headers;
    const answer = await fetch(endpoint, {
      method: 'POST',
      headers: headers as Record<string, string>,
      body,
    });
    response.writeHead(answer.status, { 'Content-Type': answer.headers.get('content-type') ?? '' });
    response.end(await answer.text());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The actions asked for since the last call of this, in order of the alphabet. */
    taken(): string[] {
      const taken = [...actions].sort();
      actions = new Set();
      return taken;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
