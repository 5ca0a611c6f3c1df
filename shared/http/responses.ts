import type { APIGatewayProxyResult } from 'aws-lambda';
import { PROBLEMS, type ProblemCode, type ProblemTexts, problemBody } from '#shared/problems.ts';

export type Headers = Readonly<Record<string, string>>;

/** The media type of every error body (RFC 9457). */
export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** The headers of every response. No cache may store a response under /v1. */
export const commonHeaders = (path: string, requestId: string): Headers => ({
  'X-Request-Id': requestId,
  ...(/^\/v1(?:\/|$)/.test(path) ? { 'Cache-Control': 'no-store' } : {}),
});

/** A JSON body. It ends with a newline, so that the prompt of a terminal starts on a line of its own after `curl`. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** A problem as a response: the same bytes whether a function or the gateway builds it. */
export const problemResponse = (
  code: ProblemCode,
  requestId: string,
  options: ProblemTexts & { readonly headers?: Headers } = {},
): APIGatewayProxyResult => ({
  statusCode: PROBLEMS[code].status,
  headers: { 'Content-Type': PROBLEM_CONTENT_TYPE, ...options.headers },
  body: jsonText(problemBody(code, requestId, options)),
});
