/** The calls of a measured process: a server that they go to, records them and replays its replies. */
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import selfsigned from 'selfsigned';

/** A call of a function to DynamoDB, Secrets Manager, KMS or a provider. */
export interface Call {
  /** `DynamoDB_20120810.Query`; undefined for a provider. */
  readonly target: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Returns the body of the reply to a call, which succeeds. */
type Responder = (call: Call) => Promise<string>;

export type CallServer = Awaited<ReturnType<typeof startCallServer>>;

/**
 * Starts the server that a measured process calls. It uses TLS: with an http:// endpoint the SDK would load modules that it does not need
 * on AWS.
 */
export const startCallServer = async () => {
  const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: 'bench' }], {
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  const server = createServer({ cert, key }, async (request, response) => {
    const { method = '', url: path = '' } = request;
    const headers = request.headers as Call['headers'];
    const call = { target: headers['x-amz-target'], method, path, headers, body: await text(request) };
    try {
      response.end(await calls.respond(call));
    } catch (error) {
      console.error(error);
      response.writeHead(400).end('{"__type":"ValidationException"}');
    }
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const calls = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cert,
    /** Responds to every call. The benchmark replaces it. */
    respond: replay([]),
    async [Symbol.asyncDispose](): Promise<void> {
      server.closeAllConnections();
      await server[Symbol.asyncDispose]();
    },
  };
  return calls;
};

interface RecordedCall extends Call {
  readonly reply: string;
}

/** The calls of a request. Those of one round trip are made at once. */
export type RoundTrips = readonly (readonly RecordedCall[])[];

/** Longer than a new process takes between two calls of one round trip, and shorter than any timeout. */
const DELAY_MS = 100;

/** Returns a responder that replies as another one and keeps the calls. */
export const recorder = (replyTo: Responder) => {
  const roundTrips: RecordedCall[][] = [];
  let hasReplied = true;
  const respond: Responder = async (call) => {
    if (hasReplied) roundTrips.push([]);
    hasReplied = false;
    const calls = roundTrips.at(-1);
    const reply = await replyTo(call);
    calls?.push({ ...call, reply });
    await pause(DELAY_MS);
    hasReplied = true;
    return reply;
  };
  return { respond, roundTrips };
};

/** Returns a responder that replies to each call as it was recorded, at once. Calls of one kind get their replies in the recorded order. */
export const replay = (roundTrips: RoundTrips): Responder => {
  const kindOf = ({ target, path }: Call): string => target ?? path;
  const recorded = Map.groupBy(roundTrips.flat(), kindOf);
  return async (call) => {
    const next = recorded.get(kindOf(call))?.shift();
    if (next === undefined) throw new Error(`this call was not recorded: ${kindOf(call)}`);
    return next.reply;
  };
};
