import { isNativeError } from 'node:util/types';
import { abortedFailure, type CallSite, ProviderUnavailable, type UnavailableReason } from './unavailable.ts';

/** A request to a provider. The URL may contain a key or a national id, so it appears in no error and no log line. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Uses a new connection. A kept connection may have closed while the function was frozen; a request on it fails, and may
   * have arrived. A new connection is worth a TLS handshake for a request that must not be repeated. It works only if all requests to
   * a host ask for it: otherwise a connection kept by another request is used.
   */
  readonly ownConnection?: boolean;
}

/** The response of a provider. */
export interface ProviderReply {
  readonly status: number;
  /** The parsed body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Documented responses are below 1 KB, and below 40 KB with a photo, which we ask the provider to omit. */
const MAX_BODY_BYTES = 64 * 1024;

/** Error codes of a connection that was never made, so the request did not arrive. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_.*|ERR_TLS_.*|CERT_.*|.*_CERT|.*_CERTIFICATE|UNABLE_TO_.*)$/;

/**
 * Sends one request and reads the complete response. Does not follow redirects, which would pass credentials on, and limits the size
 * of the body. Throws ProviderUnavailable if there is no complete response; the adapter decides what a response means.
 */
export const exchange = async (
  site: CallSite,
  { method, url, headers = {}, body, ownConnection = false }: ProviderRequest,
  signal: AbortSignal,
): Promise<ProviderReply> => {
  let text: string | undefined;
  let status: number;
  try {
    const response = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(ownConnection ? { connection: 'close' } : {}),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
      redirect: 'manual',
      signal,
    });
    status = response.status;
    text = await readBounded(response);
  } catch (error) {
    throw noResponse(site, error, signal);
  }
  if (text === undefined) throw new ProviderUnavailable(site, 'malformed', { delivery: 'possibly_sent' });
  return { status, json: parseJson(text) };
};

/** Returns the body as text; undefined if it is too large. Leaving the loop closes the connection. */
const readBounded = async (response: Response): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.byteLength;
    if (length > MAX_BODY_BYTES) return undefined;
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

const noResponse = (site: CallSite, error: unknown, signal: AbortSignal): ProviderUnavailable => {
  if (signal.aborted) return abortedFailure(site, signal, 'possibly_sent');
  const delivery = NEVER_CONNECTED.test(codeOf(error) ?? '') ? 'not_sent' : 'possibly_sent';
  return new ProviderUnavailable(site, 'transport', { delivery, cause: safeCause(error) });
};

/** The maximum length of a chain of causes in which a code is searched. */
const MAX_DEPTH = 5;

/** `ECONNRESET`, `UND_ERR_SOCKET`: the form of every code of Node and OpenSSL. Any other text might quote what was sent. */
const CODE = /^[A-Z][A-Z0-9_]{2,60}$/;
const NAME = /^[A-Za-z]{1,40}$/;

/** Returns the code of an error or of one of its causes. */
const codeOf = (error: unknown): string | undefined => {
  let current: unknown = error;
  for (let depth = 0; depth < MAX_DEPTH && isNativeError(current); depth += 1) {
    const { code } = current as NodeJS.ErrnoException;
    if (typeof code === 'string' && CODE.test(code)) return code;
    current = current.cause;
  }
  return undefined;
};

/**
 * Copies the name and the code of an error of the HTTP client. The error itself may hold the URL, in which some providers require the
 * API key or the national id, and a part of the response.
 */
export const safeCause = (error: unknown): Error => {
  const copy = new Error(codeOf(error) ?? 'no code');
  if (isNativeError(error) && NAME.test(error.name)) copy.name = error.name;
  return copy;
};

/**
 * Returns the failure that a response means. With the reason of a documented error, the provider did not act. Without one, the HTTP
 * status gives the reason, and the provider may have acted: a system between us and the provider may have sent the response.
 */
export const failedReply = (
  site: CallSite,
  { status }: ProviderReply,
  reason?: UnavailableReason,
): ProviderUnavailable =>
  new ProviderUnavailable(site, reason ?? reasonOfStatus(status), {
    delivery: reason === undefined ? 'possibly_sent' : 'not_sent',
  });

const reasonOfStatus = (status: number): UnavailableReason => {
  if (status >= 500) return 'upstream';
  if (status === 401) return 'credentials';
  if (status === 403) return 'blocked';
  if (status === 429) return 'quota';
  return 'malformed';
};
