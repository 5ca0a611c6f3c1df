import { codeOf, safeCause } from './safe-cause.ts';
import { type CallSite, type ProviderUnavailable, unavailable, unavailableBy } from './unavailable.ts';

/** What goes out. The URL may hold a key or a national id, so it appears in no error and no log. */
export interface ProviderRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /**
   * Goes by a connection of its own. One that is kept may have died unseen while the function was frozen; a request on it breaks, and
   * nobody can tell whether it arrived. For what may not be done twice that is worth a handshake. All requests to a host must want it:
   * otherwise one that another request has kept is used.
   */
  readonly ownConnection?: boolean;
}

/** What came back. */
export interface ProviderReply {
  readonly status: number;
  /** The body; undefined if it is not JSON. */
  readonly json: unknown;
}

/** Every documented answer is below 1 KB; a person's record with a photo, which we ask to be left out, below 40. */
const MAX_BODY_BYTES = 64 * 1024;

/** Codes of a connection that was never made: what was to be sent surely did not arrive. */
const NEVER_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|ERR_SSL_.*|ERR_TLS_.*|CERT_.*|.*_CERT|.*_CERTIFICATE|UNABLE_TO_.*)$/;

/**
 * One request to a provider and its whole answer. Follows no redirect, since credentials must not travel on, and reads no more than
 * a bounded body. Throws ProviderUnavailable if there is no whole answer; what an answer means is the adapter's to say.
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
    throw noAnswer(site, error, signal);
  }
  if (text === undefined) throw unavailable(site, 'malformed', { refused: false });
  return { status, json: parseJson(text) };
};

/** The body as text; undefined if it is larger than any answer should be. Leaving the loop closes the connection. */
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

/** Without the parser's error, which quotes what it was given. */
const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const noAnswer = (site: CallSite, error: unknown, signal: AbortSignal): ProviderUnavailable => {
  if (signal.aborted) return unavailableBy(site, signal, false);
  const refused = NEVER_CONNECTED.test(codeOf(error) ?? '');
  return unavailable(site, 'transport', { refused, cause: safeCause(error) });
};
