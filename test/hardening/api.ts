import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import type { Report } from './report.ts';

/** A response, or undefined if the connection ended without one. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: a campaign reads any JSON of the response.
  readonly json: any;
  readonly ms: number;
}

/** Returns whether it is unknown if a change was made. */
export const isIndefinite = (reply: Reply | undefined): boolean => reply === undefined || reply.status >= 500;

/** Returns whether a response decides on its request. */
export const isDefinite = (reply: Reply | undefined): reply is Reply =>
  reply !== undefined && reply.status < 500 && reply.status !== 429;

export interface ApiCall {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly key: string;
  readonly body?: object;
}

const CHECK = 'every failure is a declared problem';
const RETRY_AFTER_CHECK = 'every 429 and 503 has a Retry-After within its rule';
const LONGEST_RETRY_AFTER_SECONDS = 86_400;
const TIME_BOUND_MS = 30_000;

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Calls the service and checks what every response must be. Undefined: no response, as after a kill. */
export const call = async (
  baseUrl: string,
  { method, path, key, body }: ApiCall,
  report: Report,
): Promise<Reply | undefined> => {
  const startedAt = performance.now();
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { 'X-Api-Key': key, ...(body ? { 'Content-Type': 'application/json' } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
    signal: AbortSignal.timeout(TIME_BOUND_MS),
  }).catch(() => undefined);
  const text = await response?.text().catch(() => undefined);
  if (response === undefined || text === undefined) return undefined;
  const json = parse(text);
  const reply = {
    status: response.status,
    headers: response.headers,
    json,
    ms: performance.now() - startedAt,
  };
  checkResponse(reply, `${method} ${path.split('?')[0]}`, report);
  return reply;
};

const checkResponse = ({ status, headers, json }: Reply, operation: string, report: Report): void => {
  if (status < 400) return;
  const code = json?.code as ProblemCode;
  report.expect(
    CHECK,
    headers.get('content-type') === 'application/problem+json' && PROBLEMS[code]?.status === status,
    () => `${operation} returned ${status} ${code}`,
  );
  report.expect('no request returns internal', code !== 'internal', () => `${operation} returned internal`);
  if (status !== 429 && status !== 503) return;
  const seconds = Number(headers.get('retry-after'));
  report.expect(
    RETRY_AFTER_CHECK,
    Number.isInteger(seconds) && seconds >= 1 && seconds <= LONGEST_RETRY_AFTER_SECONDS,
    () => `${operation} returned ${code} with Retry-After ${headers.get('retry-after')}`,
  );
};
