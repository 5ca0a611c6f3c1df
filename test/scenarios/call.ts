import { PROBLEMS, type ProblemCode, problemType, titleOf } from '#shared/problems.ts';
import { responseFaults } from '#test/openapi/response-validator.ts';
import type { ProblemBody, Target } from './target.ts';

/** A request to a target. `body` is sent as JSON, `text` unchanged. */
export interface CallOptions {
  readonly method?: string;
  readonly key?: string;
  readonly body?: unknown;
  readonly text?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A response. `json` parses the body as the type that the caller names. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  json<T>(): T;
}

/** Calls the target and validates the response against the published document. With a body the default method is POST. */
export const call = async (target: Target, path: string, options: CallOptions = {}): Promise<Reply> => {
  const sent = options.text ?? (options.body === undefined ? undefined : JSON.stringify(options.body));
  const method = options.method ?? (sent === undefined ? 'GET' : 'POST');
  const response = await fetch(`${target.baseUrl}${path}`, {
    method,
    headers: {
      ...(sent === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(options.key === undefined ? {} : { 'X-Api-Key': options.key }),
      ...options.headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
    // The redirect of the root is a response too; where it leads depends on the address.
    redirect: 'manual',
  });
  const { status, headers } = response;
  const text = await response.text();
  // A response to HEAD has no body to validate.
  const faults =
    target.hasForeignRefusals || method === 'HEAD'
      ? []
      : responseFaults({ method, path, status, headers, body: text });
  expect(faults).toEqual([]);
  return { status, headers, text, json: () => JSON.parse(text) };
};

/** The details that name a limit, or what the key of the request has. */
const DETAILS: { readonly [Code in ProblemCode]?: RegExp } = {
  insufficient_scope:
    /^[A-Z]+ \/v1\/\S+ needs a scope that this key does not have\. It has: [a-z]+:[a-z]+(?:, [a-z]+:[a-z]+)*\. \/docs names the scope of each operation; whoever issued the key can add it\.$/,
  resend_too_soon:
    /^(?:A code was sent to this phone less than a minute ago|Too many codes were sent to this phone)\. /,
  too_many_attempts: / until \d{4}-\S+Z\. Wait for Retry-After seconds\.$/,
  rate_limit_exceeded:
    /^(?:A limit of this API key or of your address is used up|The limit [a-z-]+ of this API key \(\d+ in a clock [a-z]+\) is used up until \d{4}-\S+Z)\. Wait for Retry-After seconds\.$/,
};

/** Checks everything that the contract says about this problem; returns the body. */
export const expectProblem = (reply: Reply, code: ProblemCode): ProblemBody => {
  const body = reply.json<ProblemBody>();
  expect(body).toEqual({
    type: problemType(code),
    title: titleOf(code),
    status: PROBLEMS[code].status,
    code,
    detail: DETAILS[code] === undefined ? PROBLEMS[code].detail : expect.stringMatching(DETAILS[code]),
    request_id: reply.headers.get('x-request-id'),
    // The comparison with the document checks these two.
    ...(body.retry_after === undefined ? {} : { retry_after: body.retry_after }),
    ...(body.reason === undefined ? {} : { reason: body.reason }),
    ...(body.errors === undefined ? {} : { errors: body.errors }),
    ...(code === 'user_conflict' ? { user_id: expect.stringMatching(/^usr_/) } : {}),
  });
  expect(reply.status).toBe(PROBLEMS[code].status);
  expect(reply.headers.get('content-type')).toBe('application/problem+json');
  expect(body.request_id).toMatch(/^.{8,}$/);
  return body;
};

/** Checks that Retry-After is an integer from 1 to `atMost` seconds. */
export const expectRetryAfter = (reply: Reply, atMost: number): void => {
  const seconds = Number(reply.headers.get('retry-after'));
  expect(Number.isInteger(seconds)).toBe(true);
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(seconds).toBeLessThanOrEqual(atMost);
};

/** Returns a problem's body without its request id. */
export const withoutRequestId = (reply: Reply): string => {
  const { request_id: _, ...rest } = reply.json<ProblemBody>();
  return JSON.stringify(rest);
};
