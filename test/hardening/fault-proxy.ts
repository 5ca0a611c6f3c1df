import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A fault of one database call. */
export type Fault =
  /** The response comes late. */
  | 'delay'
  /** The connection breaks before the call is made. */
  | 'reset'
  /** The call is made, and the connection breaks before the response. */
  | 'lost-response'
  | 'ThrottlingException'
  | 'ProvisionedThroughputExceededException'
  /** Another write holds the item; a transaction is canceled for it, unless it is known by its token: DynamoDB repeats its result. */
  | 'TransactionConflictException'
  | 'InternalServerError'
  /** A batch read leaves all its keys unread. */
  | 'unprocessed-keys';

/** What the proxy does with a call. `action`: `GetItem`, `UpdateItem` … */
type FaultPlan = (action: string) => Fault | undefined;

export interface FaultProxy {
  readonly endpoint: string;
  /** Connections that were made while the database was unreachable. */
  refusedConnections(): number;
  /** Calls by the fault that they met; `none` for those without. */
  readonly counts: ReadonlyMap<string, number>;
  plan(faults: FaultPlan): void;
  /** `refuse` breaks every connection at once; `hang` never responds; `up` forwards. */
  availability(state: 'up' | 'refuse' | 'hang'): void;
  stop(): Promise<void>;
}

const DELAY_MS = 300;
const NO_FAULT: FaultPlan = () => undefined;

const bodyOf = async (stream: AsyncIterable<Buffer>): Promise<Buffer> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
};

const respond = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
  response.end(JSON.stringify(body));
};

/** The response to a transaction whose first item conflicts with another write. */
const conflictOf = (items: number) => ({
  __type: 'com.amazonaws.dynamodb.v20120810#TransactionCanceledException',
  Message: 'fault',
  CancellationReasons: Array.from({ length: items }, (_, index) => ({
    Code: index === 0 ? 'TransactionConflict' : 'None',
  })),
});

/** Starts a proxy between the service and its database that makes calls fail as the plan says. */
export const startFaultProxy = async (target: string): Promise<FaultProxy> => {
  const agent = new Agent({ keepAlive: true });
  /** The tokens of transactions that were made without a response. */
  const made = new Set<string>();
  const counts = new Map<string, number>();
  let faults = NO_FAULT;
  let refused = 0;
  let state: 'up' | 'refuse' | 'hang' = 'up';

  const forward = async (incoming: IncomingMessage, body: Buffer) => {
    const outgoing = request(target, { method: incoming.method ?? 'POST', headers: incoming.headers, agent });
    outgoing.end(body);
    const [reply] = (await once(outgoing, 'response')) as [IncomingMessage];
    return { status: reply.statusCode ?? 500, headers: reply.headers, body: await bodyOf(reply) };
  };

  const handle = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bodyOf(incoming);
    if (state === 'hang') return;
    const action = String(incoming.headers['x-amz-target']).split('.').at(-1) ?? '';
    const isTransaction = action === 'TransactWriteItems';
    const token = isTransaction ? JSON.parse(body.toString()).ClientRequestToken : undefined;
    const planned = faults(action);
    const fault = planned === 'TransactionConflictException' && made.has(token) ? undefined : planned;
    counts.set(fault ?? 'none', (counts.get(fault ?? 'none') ?? 0) + 1);
    if (fault === 'reset') return void response.destroy();
    if (fault === 'unprocessed-keys') {
      return respond(response, 200, {
        Responses: {},
        UnprocessedKeys: JSON.parse(body.toString()).RequestItems,
      });
    }
    if (fault === 'InternalServerError') {
      return respond(response, 500, {
        __type: `com.amazonaws.dynamodb.v20120810#${fault}`,
        message: 'fault',
      });
    }
    if (fault === 'TransactionConflictException' && isTransaction) {
      return respond(response, 400, conflictOf(JSON.parse(body.toString()).TransactItems.length));
    }
    if (fault === 'delay') await pause(DELAY_MS);
    else if (fault !== undefined && fault !== 'lost-response') {
      return respond(response, 400, {
        __type: `com.amazonaws.dynamodb.v20120810#${fault}`,
        message: 'fault',
      });
    }
    const reply = await forward(incoming, body);
    if (fault === 'lost-response') {
      if (isTransaction && reply.status === 200) made.add(token);
      return void response.destroy();
    }
    response.writeHead(reply.status, reply.headers);
    response.end(reply.body);
  };

  const server = createServer((incoming, response) => {
    if (state === 'refuse') {
      refused += 1;
      return void incoming.socket.destroy();
    }
    handle(incoming, response).catch(() => response.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    refusedConnections: () => refused,
    plan(next) {
      faults = next;
    },
    availability(next) {
      state = next;
      if (next !== 'up') server.closeAllConnections();
    },
    async stop() {
      agent.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
};
