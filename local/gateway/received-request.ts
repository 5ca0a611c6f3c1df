import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type ReceivedBody, readBody } from './request-body.ts';

/** A request that the gateway has received whole. */
export interface ReceivedRequest {
  readonly requestId: string;
  /** The id that callers see. On AWS they can choose the other one. */
  readonly extendedRequestId: string;
  readonly receivedAtMs: number;
  readonly method: string;
  /** As it was sent, with its escapes, without the query. */
  readonly path: string;
  /** Name as it was first sent -> values in their order. Names are compared case-insensitively. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly query: ReadonlyMap<string, readonly string[]>;
  readonly sourceIp: string;
  readonly body: ReceivedBody;
}

/** Receives a request. Rejects if the client closes the connection before the end. */
export const receive = async (request: IncomingMessage): Promise<ReceivedRequest> => {
  const receivedAtMs = Date.now();
  const [path = '', ...rest] = (request.url ?? '').split('?');
  const body = await readBody(request);
  return {
    requestId: randomUUID(),
    extendedRequestId: randomUUID(),
    receivedAtMs,
    method: request.method ?? '',
    path,
    headers: headersOf(request.rawHeaders),
    query: queryOf(rest.join('?')),
    sourceIp: (request.socket.remoteAddress ?? '').replace(/^::ffff:/, ''),
    body,
  };
};

/** The last value of a header, as API Gateway passes it on; undefined if it was not sent. `name` in lower case. */
export const headerOf = ({ headers }: Pick<ReceivedRequest, 'headers'>, name: string): string | undefined => {
  for (const [sent, values] of headers) if (sent.toLowerCase() === name) return values.at(-1);
  return undefined;
};

const headersOf = (raw: readonly string[]): Map<string, string[]> => {
  const headers = new Map<string, string[]>();
  const firstSpelling = new Map<string, string>();
  for (let index = 0; index < raw.length; index += 2) {
    const [name, value] = [raw[index] as string, raw[index + 1] as string];
    const spelling = firstSpelling.get(name.toLowerCase()) ?? name;
    firstSpelling.set(name.toLowerCase(), spelling);
    headers.set(spelling, [...(headers.get(spelling) ?? []), value]);
  }
  return headers;
};

const queryOf = (text: string): Map<string, string[]> => {
  const query = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(text)) query.set(name, [...(query.get(name) ?? []), value]);
  return query;
};
