import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';

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
  const code = (cause as NodeJS.ErrnoException | undefined)?.code;
  const reason = name === 'TimeoutError' ? 'in time' : `(${code ?? name})`;
  return new CheckFailed(`no response ${reason}`);
};

/** Returns a function that calls the service at a URL until the signal aborts. `onReply` is told each response. */
export const callsTo =
  (baseUrl: string, signal: AbortSignal, onReply?: (request: string, reply: Reply) => void): Call =>
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
      const reply = { status, headers, body: parsed(await response.text()) };
      onReply?.(`${method} ${path}`, reply);
      return reply;
    } catch (error) {
      throw noResponse(error);
    }
  };

/** Throws CheckFailed with what was found, if a condition is not met. */
export const expectThat = (isMet: boolean, found: string): void => {
  if (!isMet) throw new CheckFailed(found);
};

/** Checks the status of a response, and that it has a request id and these headers. */
export const expectStatus = (
  { status, headers }: Reply,
  expected: number,
  ...names: readonly string[]
): void => {
  const found = `status ${status}, request id ${headers.get('x-request-id') ?? 'missing'}`;
  expectThat(status === expected, `expected status ${expected}, got ${found}`);
  const missing = ['x-request-id', ...names].filter((name) => !headers.has(name));
  expectThat(missing.length === 0, `headers are missing: ${missing.join(', ')}`);
};

/** Checks that a response is a problem with this code. */
export const expectProblem = (reply: Reply, code: ProblemCode): void => {
  expectStatus(reply, PROBLEMS[code].status);
  const type = reply.headers.get('content-type');
  expectThat(type === 'application/problem+json', `the Content-Type is ${type}`);
  expectThat(reply.body?.code === code, `expected the code ${code}, got ${reply.body?.code}`);
};
