import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isNativeError } from 'node:util/types';
import {
  abortedFailure,
  type CallSite,
  type Delivery,
  ProviderUnavailable,
  type UnavailableReason,
} from './unavailable.ts';

/** A request to a provider: POST with a body, else GET. The URL may contain a key or a national id, so it appears in no error and no log line. */
export interface ProviderRequest {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as a form or as JSON. */
  readonly body?: URLSearchParams | Readonly<Record<string, unknown>>;
  /**
   * Uses a new connection. A kept connection may have closed while the function was frozen; a request on it fails, and may
   * have arrived. A new connection is worth a TLS handshake for a request that must not be repeated.
   */
  readonly ownConnection?: boolean;
}

export interface ProviderReply {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Documented responses are below 1 KB, and below 40 KB with a photo, which we ask the provider to omit. */
const MAX_BODY_BYTES = 64 * 1024;

/** Without `identity` a server may compress the body. Some firewalls reject requests without a user agent. */
const COMMON_HEADERS = {
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'buyer-linking',
};

/**
 * Sends one request and reads the complete response. Does not follow redirects, which would pass credentials on, and limits the size
 * of the body. Throws ProviderUnavailable if there is no complete response; the adapter decides what a response means. Does not use
 * `fetch`, which takes 30 ms to load.
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
  const onConnected = () => {
    delivery = 'possibly_sent';
  };
  try {
    const request = (isTls ? httpsRequest : httpRequest)(url, {
      method: body ? 'POST' : 'GET',
      headers: { ...COMMON_HEADERS, ...(body && { 'content-type': contentType }), ...headers },
      signal,
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
    if (signal.aborted) throw abortedFailure(site, signal, 'possibly_sent');
    throw new ProviderUnavailable(site, 'transport', { delivery, cause: safeCause(error) });
  }
};

/**
 * Resolves when the headers have arrived. Rejects with the error of the request (a timeout is one), with `malformed` after HTTP 101, and if
 * the connection closes without any of these. An error after the headers ends the reading of the body and does nothing here.
 */
const responseOf = (site: CallSite, request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
    request.on('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new ProviderUnavailable(site, 'malformed', { delivery: 'possibly_sent' }));
    });
    request.on('close', () => reject(new Error('closed without a response')));
  });

/** Returns the body as text. Throws `malformed` if it is too large; leaving the loop closes the connection. */
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

/** Returns undefined for text that is not JSON. The parser's own error would quote the text. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** `ECONNRESET`, `ERR_SSL_WRONG_VERSION_NUMBER`: the form of every code of Node and OpenSSL. Any other text might quote what was sent. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;
const NAME = /^[A-Za-z]{1,40}$/;

/**
 * Copies only the name and the code of an error of the HTTP client. The error itself may quote the URL and a part of the response.
 * Some providers require the API key or the national id in the URL.
 */
export const safeCause = (error: unknown): Error => {
  if (!isNativeError(error)) return new Error('no code');
  const { code } = error as NodeJS.ErrnoException;
  const copy = new Error(typeof code === 'string' && CODE.test(code) ? code : 'no code');
  if (NAME.test(error.name)) copy.name = error.name;
  return copy;
};

/**
 * Returns the failure that a response means. `reason` is that of a documented error: the provider did not act. Without it, the HTTP
 * status or the form of the body gives the reason. The provider may have acted then, because the response may come from a system between
 * us and the provider.
 */
export const failedReply = (
  site: CallSite,
  reply: ProviderReply,
  reason?: UnavailableReason,
): ProviderUnavailable =>
  new ProviderUnavailable(site, reason ?? reasonOf(reply), {
    delivery: reason === undefined ? 'possibly_sent' : 'not_sent',
  });

const reasonOf = ({ status, json }: ProviderReply): UnavailableReason => {
  if (status >= 500) return 'upstream';
  if (status === 401) return 'credentials';
  if (status === 403) return 'blocked';
  if (status === 429) return 'quota';
  return json === undefined ? 'malformed' : 'no_verdict';
};
