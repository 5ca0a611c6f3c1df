import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
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

export interface Reply {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}

export interface RecordedCall extends Call {
  /** The round trip of the request that the call is part of: calls of one round trip are made at once. */
  readonly roundTrip: number;
  readonly reply: Reply;
}

type Responder = (call: Call) => Promise<Reply>;

/** Longer than a new process takes between two calls of one round trip, and shorter than any timeout. */
const DELAY_MS = 100;

/** Returns a responder that keeps the calls and their replies, with their round trips. */
export const recorder = (replyTo: Responder) => {
  const recorded: RecordedCall[] = [];
  let current = 0;
  let hasReplied = false;
  const respond: Responder = async (call) => {
    if (hasReplied) current += 1;
    hasReplied = false;
    const roundTrip = current;
    const reply = await replyTo(call);
    recorded.push({ ...call, roundTrip, reply });
    await pause(DELAY_MS);
    hasReplied = true;
    return reply;
  };
  return { respond, recorded: () => recorded.toSorted((a, b) => a.roundTrip - b.roundTrip) };
};

/** What calls of two runs have in common: the operation and the kinds of items, but no ids, times or tokens. */
const signatureOf = ({ target, method, path, body }: Call): string =>
  target === undefined
    ? `${method} ${path.split('?')[0]}`
    : [target, ...(body.match(/"(?:[A-Z]+#|[a-z-]+-secret")/g) ?? [])].join(' ');

/** The ids in the values of a call to the database, such as the random one by which a write finds itself in a response. */
const idsIn = (body: string): string[] => body.match(/(?<=\{"S":")[\w-]{12,}(?="\})/g) ?? [];

/** Returns the body of a recorded reply with the ids of this call in place of those of the recorded one. */
const withIdsOf = (body: string, recorded: RecordedCall): string => {
  const recordedIds = idsIn(recorded.body);
  return idsIn(body).reduce(
    (reply, id, index) => reply.replaceAll(recordedIds[index] ?? id, id),
    recorded.reply.body,
  );
};

/** Returns a responder that replies to each call as it was recorded, at once. Equal calls get their recorded replies in turns. */
export const replay = (recorded: readonly RecordedCall[]): Responder => {
  const bySignature = Map.groupBy(recorded, signatureOf);
  return async (call) => {
    const equal = bySignature.get(signatureOf(call)) ?? [];
    const next = equal.shift();
    if (next === undefined) {
      console.error(`this call was not recorded: ${signatureOf(call)}`);
      return { status: 400, type: 'application/json', body: '{"__type":"ValidationException"}' };
    }
    equal.push(next);
    return { ...next.reply, body: withIdsOf(call.body, next) };
  };
};

/** The headers that a call keeps when it is passed on or made again. A send of an SMS uses a connection of its own. */
const headersOf = ({ headers }: IncomingMessage): Record<string, string> => {
  const { host: _host, connection, 'content-length': _length, ...kept } = headers;
  return { ...kept, ...(connection === 'close' && { connection }) } as Record<string, string>;
};

/**
 * Starts the server that a measured process calls. It uses TLS: with an http:// endpoint the SDK would load modules that it does not need
 * on AWS.
 */
export const startCallServer = async () => {
  const { cert, private: key } = selfsigned.generate([{ name: 'commonName', value: 'bench' }], {
    days: 1,
    keySize: 2048,
    algorithm: 'sha256',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  });
  let respond: Responder = replay([]);
  const server = createServer({ cert, key }, async (request, response) => {
    const { method = '', url: path = '' } = request;
    const target = request.headers['x-amz-target'] as string | undefined;
    const call = { target, method, path, headers: headersOf(request), body: await text(request) };
    const { status, type, body } = await respond(call);
    response.writeHead(status, { 'Content-Type': type }).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cert,
    /** Responds from now on by this responder. */
    respondBy(responder: Responder): void {
      respond = responder;
    },
    async close(): Promise<void> {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
