import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/** The payload limit of API Gateway: 10 MB. */
export const MAX_BODY_BYTES = 10 * 1024 * 1024;

/** The bytes of a body, or `too_large`. */
export type ReceivedBody = Buffer | 'too_large';

/** The values of each name, in their order. */
export type Values = ReadonlyMap<string, readonly string[]>;

/** A request that the gateway has received whole. */
export interface ReceivedRequest {
  readonly requestId: string;
  /** The id that callers see. On AWS they can choose the other one. */
  readonly extendedRequestId: string;
  readonly receivedAtMs: number;
  readonly method: string;
  /** As it was sent, with its escapes, without the query. */
  readonly path: string;
  /** By the name as it was first sent. */
  readonly headers: Values;
  readonly query: Values;
  readonly sourceIp: string;
  readonly body: ReceivedBody;
}

/** Receives a request. Rejects if the client closes the connection before the end. */
export const receive = async (request: IncomingMessage): Promise<ReceivedRequest> => {
  const receivedAtMs = Date.now();
  const [path = '', ...rest] = (request.url ?? '').split('?');
  const sentHeaders = request.rawHeaders.flatMap((name, index, all) =>
    index % 2 === 0 ? [[name, all[index + 1] ?? ''] as const] : [],
  );
  return {
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
    receivedAtMs,
    method: request.method ?? '',
    path,
    headers: valuesOf(sentHeaders),
    query: valuesOf([...new URLSearchParams(rest.join('?'))]),
    sourceIp: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    body: await readBody(request),
  };
};

/** The last value of a header, as API Gateway passes it on; undefined if it was not sent. `name` in lower case. */
export const headerOf = ({ headers }: Pick<ReceivedRequest, 'headers'>, name: string): string | undefined =>
  [...headers].find(([sent]) => sent.toLowerCase() === name)?.[1].at(-1);

const valuesOf = (pairs: readonly (readonly [name: string, value: string])[]): Values =>
  new Map(
    [...Map.groupBy(pairs, ([name]) => name)].map(([name, all]) => [name, all.map(([, value]) => value)]),
  );

/**
 * Reads a body and keeps at most `limit` bytes of it. The rest is read and dropped, so that the client gets the response. Rejects if the
 * client closes the connection before the end.
 */
export const readBody = async (request: IncomingMessage, limit = MAX_BODY_BYTES): Promise<ReceivedBody> => {
  const chunks: Buffer[] = [];
  let received = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    received += chunk.length;
    if (received <= limit) chunks.push(chunk);
  }
  return received > limit ? 'too_large' : Buffer.concat(chunks);
};
