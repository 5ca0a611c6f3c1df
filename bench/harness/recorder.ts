import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
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

/** A response as it was recorded. */
export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

/** A server that takes the place of AWS and the providers for the functions under test. */
export interface AwsEndpoint {
  readonly url: string;
  close(): Promise<void>;
}

/** Longer than a function takes between two calls of one round trip, and shorter than any timeout. */
const DELAY_MS = 20;

/** The operation of a call: `Query`, or the method of a call to a provider. */
export const operationOf = ({ target, method }: Pick<Call, 'target' | 'method'>): string =>
  target?.split('.')[1] ?? `${method} (provider)`;

/** Reads the body of a request. */
export const textOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
};

/** Starts a server on a free port of the loopback address. */
export const listen = async (server: Server, scheme: string): Promise<AwsEndpoint> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
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

const { privateKey } = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  publicKeyEncoding: { type: 'spki', format: 'pem' },
});

/** Responds as KMS does, with a key of this process. */
const kms: Readonly<Record<string, (input: { Message: string }) => object>> = {
  GetPublicKey: () => ({
    PublicKey: createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64'),
  }),
  Sign: ({ Message }) => ({
    Signature: sign('sha256', Buffer.from(Message, 'base64'), createPrivateKey(privateKey)).toString(
      'base64',
    ),
  }),
};

/** Where the recorder finds what the functions call. */
export interface Upstreams {
  readonly databaseUrl: string;
  /** The secrets by name; `<recorder>` in them becomes the URL of the recorder. */
  readonly secrets: Readonly<Record<string, string>>;
}

/**
 * Starts a server that passes the calls of a function on and records them, with their round trips and the capacity that they consume.
 * A path `/<port>/…` is a call to the provider on that port. `take` returns the calls since the last `take`.
 */
export const startRecorder = async ({ databaseUrl, secrets }: Upstreams) => {
  let calls: Call[] = [];
  let roundTrip = 0;
  let hasResponded = false;

  const awsReply = async (target: string, request: IncomingMessage, body: string) => {
    const [service, operation = ''] = target.split('.');
    const json = (value: object, units = 0) => ({
      response: { status: 200, type: 'application/x-amz-json-1.0', body: JSON.stringify(value) },
      units,
    });
    if (service === 'TrentService') return json(kms[operation]?.(JSON.parse(body)) ?? {});
    if (service === 'secretsmanager') {
      return json({ SecretString: secrets[JSON.parse(body).SecretId]?.replaceAll('<recorder>', server.url) });
    }
    const passedOn = await fetch(databaseUrl, {
      method: 'POST',
      headers: headersOf(request),
      body: JSON.stringify({ ...JSON.parse(body), ReturnConsumedCapacity: 'TOTAL' }),
    });
    const { ConsumedCapacity = [], ...output } = (await passedOn.json()) as {
      ConsumedCapacity?: { CapacityUnits: number } | { CapacityUnits: number }[];
    };
    const units = [ConsumedCapacity].flat().reduce((sum, { CapacityUnits }) => sum + CapacityUnits, 0);
    const { response } = json(output);
    return { response: { ...response, status: passedOn.status }, units };
  };

  const providerReply = async (request: IncomingMessage, body: string) => {
    const { url = '', method = 'GET' } = request;
    const [, port, ...path] = url.split('/');
    const passedOn = await fetch(`http://127.0.0.1:${port}/${path.join('/')}`, {
      method,
      headers: headersOf(request),
      ...(body === '' ? {} : { body }),
    });
    const type = passedOn.headers.get('content-type') ?? 'application/json';
    return { response: { status: passedOn.status, type, body: await passedOn.text() }, units: 0 };
  };

  const serve: RequestListener = async (request, response) => {
    if (hasResponded) roundTrip += 1;
    hasResponded = false;
    const of = roundTrip;
    const body = await textOf(request);
    const target = request.headers['x-amz-target'] as string | undefined;
    const reply = target ? await awsReply(target, request, body) : await providerReply(request, body);
    const { method = 'GET', url: path = '' } = request;
    // A send of an SMS uses a connection of its own; the bare handler does the same.
    const { connection } = request.headers;
    const headers = { ...headersOf(request), ...(connection === 'close' ? { connection } : {}) };
    calls.push({ roundTrip: of, target, method, path, headers, body, ...reply });
    await pause(DELAY_MS);
    hasResponded = true;
    response.writeHead(reply.response.status, { 'Content-Type': reply.response.type });
    response.end(reply.response.body);
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
