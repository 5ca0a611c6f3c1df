import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isNativeError } from 'node:util/types';
import { type ProviderReply, parseJson } from './reply.ts';
import { abortedFailure, type CallSite, type Delivery, ProviderUnavailable } from './unavailable.ts';

/** POST with a body, else GET. The URL may contain a key or a national id, so it appears in no error and no log line. */
export interface ProviderRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: URLSearchParams | Readonly<Record<string, unknown>>;
  /** For a request that must not be repeated: a kept connection may have closed while the function was frozen, after the request arrived. */
  readonly ownConnection?: boolean;
}

/** Documented responses are below 1 KB, and below 40 KB with a photo, which we ask the provider to omit. */
const MAX_BODY_BYTES = 64 * 1024;

/** From the request until the connection can carry it: DNS, TCP and TLS. Together with another provider it is shorter than a request may take. */
const CONNECTION_TIMEOUT_MS = 2000;

/** Without `identity` a server may compress the body. Some firewalls reject requests without a user agent. */
const COMMON_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'buyer-linking',
};

/**
 * Sends one request and reads the complete response. Throws ProviderUnavailable without one. Follows no redirects, which would pass
 * credentials on. Does not use `fetch`, which takes 30 ms to load.
 */
export const exchange = async (
  site: CallSite,
  { url, headers, body, ownConnection = false }: ProviderRequest,
  signal: AbortSignal,
): Promise<ProviderReply> => {
  const isForm = body instanceof URLSearchParams;
  const isTls = url.startsWith('https:');
  const contentType = isForm ? 'application/x-www-form-urlencoded' : 'application/json';
  let delivery: Delivery = 'not_reached';
  const connecting = new AbortController();
  const timer = setTimeout(() => connecting.abort(), CONNECTION_TIMEOUT_MS);
  const onConnected = () => {
    clearTimeout(timer);
    delivery = 'possibly_sent';
  };
  try {
    const request = (isTls ? httpsRequest : httpRequest)(url, {
      method: body ? 'POST' : 'GET',
      headers: { ...COMMON_HEADERS, ...(body && { 'content-type': contentType }), ...headers },
      signal: AbortSignal.any([signal, connecting.signal]),
      ...(ownConnection && { agent: false }),
    });
    request.on('socket', (socket) => {
      if (request.reusedSocket) onConnected();
      else socket.once(isTls ? 'secureConnect' : 'connect', onConnected);
    });
    request.end(isForm ? body.toString() : JSON.stringify(body));
    const response = await responseOf(site, request);
    return { status: response.statusCode ?? 0, json: parseJson(await readBounded(site, response)) };
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error;
    if (signal.aborted) throw abortedFailure(site, signal, delivery);
    const reason = connecting.signal.aborted ? 'timeout' : 'transport';
    throw new ProviderUnavailable(site, reason, { delivery, cause: safeCause(error) });
  } finally {
    clearTimeout(timer);
  }
};

/** Resolves with the headers. An error after them ends the reading of the body and does nothing here. */
const responseOf = (site: CallSite, request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new ProviderUnavailable(site, 'malformed', { delivery: 'possibly_sent' }));
    });
    request.on('close', () => reject(new Error('closed without a response')));
  });

/** Throws `malformed` if the body is too large; leaving the loop closes the connection. */
const readBounded = async (site: CallSite, response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) {
      throw new ProviderUnavailable(site, 'malformed', { delivery: 'possibly_sent' });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** `ECONNRESET`, `ERR_SSL_WRONG_VERSION_NUMBER`: the form of every code of Node and OpenSSL. Any other text might quote what was sent. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;
const NAME = /^[A-Za-z]{1,40}$/;

/** Copies the name and the code of an error of the HTTP client, which may quote the URL and so a key or a national id. */
export const safeCause = (error: unknown): Error => {
  if (!isNativeError(error)) return new Error('no code');
  const { code } = error as NodeJS.ErrnoException;
  const copy = new Error(typeof code === 'string' && CODE.test(code) ? code : 'no code');
  if (NAME.test(error.name)) copy.name = error.name;
  return copy;
};
