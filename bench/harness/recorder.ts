import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';

/** One call of a function to DynamoDB, Secrets Manager, KMS or a provider. */
export interface Call {
  /** The round trip of the request that the call is part of: calls of one round trip are made at once. */
  readonly roundTrip: number;
  /** `DynamoDB_20120810.Query`; undefined for a provider. */
  readonly target: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly response: Reply;
  /** Consumed capacity units; 0 for calls that are not of DynamoDB. */
  readonly units: number;
}

/** Stands for the address of the recorder in what it records, so that a replay can put its own there. */
export const SERVER = '<server>';

/** A response as it was recorded. */
interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** Where the recorder finds what the functions call. */
interface Upstreams {
  readonly databaseUrl: string;
  /** The secrets by name, with `SERVER` where the providers are. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Longer than a function takes between two calls of one round trip, and shorter than any timeout. */
const DELAY_MS = 20;

/** The operation of a call: `Query`, or the method of a call to a provider. */
export const operationOf = ({ target, method }: Pick<Call, 'target' | 'method'>): string =>
  target?.split('.')[1] ?? `${method} (provider)`;

/** Listens on a free port of the loopback address. */
export const listen = async (server: Server, scheme: 'http' | 'https') => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};

/** The headers that a request keeps when it is passed on or made again. */
const headersOf = ({ headers }: IncomingMessage): Record<string, string> => {
  const { host: _host, connection: _connection, 'content-length': _length, ...kept } = headers;
  return kept as Record<string, string>;
};

const awsReply = (output: object, status = 200): Reply => ({
  status,
  type: 'application/x-amz-json-1.0',
  body: JSON.stringify(output),
});

/** Passes a request on to a server. */
const passOn = async (url: string, request: IncomingMessage, body: string): Promise<Reply> => {
  const { method = 'GET' } = request;
  const response = await fetch(url, { method, headers: headersOf(request), ...(body && { body }) });
  const type = response.headers.get('content-type') ?? 'application/json';
  return { status: response.status, type, body: await response.text() };
};

const callProvider = (request: IncomingMessage, body: string): Promise<Reply> => {
  const [, port, ...path] = (request.url ?? '').split('/');
  return passOn(`http://127.0.0.1:${port}/${path.join('/')}`, request, body);
};

const callDatabase = async (url: string, request: IncomingMessage, body: string) => {
  const input = JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: 'TOTAL' });
  const reply = await passOn(url, request, input);
  const { ConsumedCapacity = [], ...output } = JSON.parse(reply.body) as {
    ConsumedCapacity?: { CapacityUnits: number } | { CapacityUnits: number }[];
  };
  const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
  return { response: awsReply(output, reply.status), units };
};

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

/** Responds as KMS does, with a key of this process. */
const callKms = (operation: string, { Message }: { readonly Message: string }): Reply =>
  operation === 'Sign'
    ? awsReply({ Signature: sign('sha256', Buffer.from(Message, 'base64'), privateKey).toString('base64') })
    : awsReply({ PublicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64') });

/**
 * Starts a server that passes the calls of a function on and records them, with their round trips and the capacity that they consume.
 * A path `/<port>/…` is a call to the provider on that port. `take` returns the calls since the last `take`.
 */
export const startRecorder = async ({ databaseUrl, secrets }: Upstreams) => {
  let calls: Call[] = [];
  let roundTrip = 0;
  let hasResponded = false;

  const replyTo = async (target: string | undefined, request: IncomingMessage, body: string) => {
    if (target === undefined) return { response: await callProvider(request, body), units: 0 };
    const [service, operation = ''] = target.split('.');
    if (service === 'TrentService') return { response: callKms(operation, JSON.parse(body)), units: 0 };
    if (service !== 'secretsmanager') return callDatabase(databaseUrl, request, body);
    return { response: awsReply({ SecretString: secrets[JSON.parse(body).SecretId] }), units: 0 };
  };

  const serve: RequestListener = async (request, response) => {
    if (hasResponded) roundTrip += 1;
    hasResponded = false;
    const of = roundTrip;
    const body = await text(request);
    const { method = 'GET', url: path = '' } = request;
    const target = request.headers['x-amz-target'] as string | undefined;
    const reply = await replyTo(target, request, body);
    // A send of an SMS uses a connection of its own; the bare handler does the same.
    const { connection } = request.headers;
    const headers = { ...headersOf(request), ...(connection === 'close' ? { connection } : {}) };
    calls.push({ roundTrip: of, target, method, path, headers, body, ...reply });
    await pause(DELAY_MS);
    hasResponded = true;
    response.writeHead(reply.response.status, { 'Content-Type': reply.response.type });
    response.end(reply.response.body.replaceAll(SERVER, server.url));
  };

  const server = await listen(createServer(serve), 'http');
  return {
    ...server,
    take(): Call[] {
      const taken = calls.toSorted((a, b) => a.roundTrip - b.roundTrip);
      calls = [];
      roundTrip = 0;
      hasResponded = false;
      return taken;
    },
  };
};
