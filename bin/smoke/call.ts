import { CheckFailed } from './check-failed.ts';

/** The longest wait for one response: the slowest operation has 20 seconds. */
const TIMEOUT_MS = 30_000;

/** A request. A body is sent as JSON; the method is then POST unless another is named. */
export interface CallOptions {
  readonly method?: string;
  readonly key?: string;
  readonly body?: unknown;
}

/** A response. `json` returns undefined if the body is not JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json(): unknown;
}

/** Calls a path of the service. */
export type Call = (path: string, options?: CallOptions) => Promise<Reply>;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Says why no response came, without the address. */
const noResponse = (error: unknown): CheckFailed => {
  const { name, cause } = error as Error;
  const reason = name === 'TimeoutError' ? `within ${TIMEOUT_MS / 1000} s` : '';
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  return new CheckFailed(`no response ${reason || `(${code ?? name})`}`);
};

/** Returns a function that calls the service at a URL until the signal aborts. */
export const callsTo =
  (baseUrl: string, signal: AbortSignal): Call =>
  async (path, { body, key, method = body === undefined ? 'GET' : 'POST' } = {}) => {
    const request = {
      method,
      headers: {
        ...(key === undefined ? {} : { 'X-Api-Key': key }),
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    };
    try {
      const response = await fetch(`${baseUrl}${path}`, request);
      const text = await response.text();
      return { status: response.status, headers: response.headers, text, json: () => parsed(text) };
    } catch (error) {
      throw noResponse(error);
    }
  };
