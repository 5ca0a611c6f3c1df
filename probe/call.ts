/** The longest wait for one response: the slowest operation has 20 seconds. */
const TIMEOUT_MS = 30_000;

/** The service did not respond as it should. The message says how it responded. */
export class ExpectationFailed extends Error {
  override readonly name = 'ExpectationFailed';
}

/** A request: GET unless a method is named. A body is sent as JSON. */
interface CallOptions {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly body?: unknown;
}

/** A response. `body` is undefined if it is not JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the expectations read JSON of any form.
  readonly body: any;
}

/** Calls a path of the service. */
export type Call = (path: string, options?: CallOptions) => Promise<Reply>;

/** Says why no response came, without the address. */
const noResponse = (error: unknown): ExpectationFailed => {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const reason = name === 'TimeoutError' ? 'in time' : `(${code ?? name})`;
  return new ExpectationFailed(`no response ${reason}`);
};

/** Returns a function that calls the service at a URL until the signal aborts. `onReply` is told each response. */
export const callsTo =
  (baseUrl: string, signal: AbortSignal, onReply?: (request: string, reply: Reply) => void): Call =>
  async (path, { body, key, method = 'GET' } = {}) => {
    try {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        // A redirect is a wrong response. To follow it would send the key and the person to another address.
        redirect: 'manual',
        headers: {
          ...(key !== undefined && { 'X-Api-Key': key }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
      });
      const { status, headers } = response;
      const reply = { status, headers, body: await response.json().catch(() => undefined) };
      onReply?.(`${method} ${path}`, reply);
      return reply;
    } catch (error) {
      throw noResponse(error);
    }
  };
