/** The longest wait for one response: the slowest operation has 20 seconds. */
const TIMEOUT_MS = 30_000;

/** The service did not respond as it should. The message says how it responded. */
export class CheckFailed extends Error {
  override readonly name = 'CheckFailed';
}

/** A request. A body is sent as JSON; the method is then POST unless another is named. */
interface CallOptions {
  readonly method?: string;
  readonly key?: string | undefined;
  readonly body?: unknown;
}

/** A response. `body` is undefined if it is not JSON. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the checks read JSON of any form.
  readonly body: any;
}

/** Calls a path of the service. */
export type Call = (path: string, options?: CallOptions) => Promise<Reply>;

/** Says why no response came, without the address. */
const noResponse = (error: unknown): CheckFailed => {
  const { name, cause } = error as Error;
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const reason = name === 'TimeoutError' ? `within ${TIMEOUT_MS / 1000} s` : `(${code ?? name})`;
  return new CheckFailed(`no response ${reason}`);
};

/** The fields that a step shows, the first two of them that the response has. */
const SHOWN_FIELDS = [
  'code',
  'id',
  'display_name',
  'total',
  'token_type',
  'expires_in',
  'resend_after',
  'issuer',
];

const stepOf = (request: string, { status, body }: Reply): string => {
  const found = Array.isArray(body) ? body[0] : body;
  const fields = SHOWN_FIELDS.filter((name) => found?.[name] !== undefined).slice(0, 2);
  return [`${request} -> ${status}`, ...fields.map((name) => `${name}: ${found[name]}`)].join('  ');
};

interface CallsOptions {
  readonly signal: AbortSignal;
  /** Is told each call that got a response: method, path, status and a field or two. */
  readonly onStep: (step: string) => void;
}

/** Returns a function that calls the service at a URL until the signal aborts. */
export const callsTo =
  (baseUrl: string, { signal, onStep }: CallsOptions): Call =>
  async (path, { body, key, method = body === undefined ? 'GET' : 'POST' } = {}) => {
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
      const text = await response.text();
      const reply = { status, headers, body: parsed(text) };
      onStep(stepOf(`${method} ${path}`, reply));
      return reply;
    } catch (error) {
      throw noResponse(error);
    }
  };

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
