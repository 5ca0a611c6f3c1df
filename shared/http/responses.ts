import type { APIGatewayProxyResult } from 'aws-lambda';
import { timeText } from '#shared/clock.ts';
import { runsInLambda } from '#shared/env.ts';
import { causeFields, errorFields, logEvent } from '#shared/log.ts';
import { Problem, type ProblemCode, problem, problemBody, serviceUnavailable } from '#shared/problems.ts';
import { rateLimitHeaders } from '#shared/rate-limits/headers.ts';
import { RateLimitExceeded } from '#shared/rate-limits/request-limits.ts';
import { isParserError } from './input.ts';
import type { RequestScope } from './request.ts';
import { causeKindOf, isDependencyFailure } from './server-errors.ts';

export type Headers = Readonly<Record<string, string>>;

export const PROBLEM_CONTENT_TYPE = 'application/problem+json';

/** Of every response of a stage. Not on one machine, where nothing is encrypted (RFC 6797 §7.2). */
export const STRICT_TRANSPORT_SECURITY = 'max-age=31536000';

/** The headers of every response. `mayBeStored`: whether a cache may store it if its own headers do not say. */
export const commonHeaders = (requestId: string, mayBeStored: boolean): Headers => ({
  'X-Request-Id': requestId,
  ...(!mayBeStored && { 'Cache-Control': 'no-store' }),
  ...(runsInLambda() && { 'Strict-Transport-Security': STRICT_TRANSPORT_SECURITY }),
});

/** A JSON body. It ends with a newline, so that the prompt of a terminal starts on a line of its own after `curl`. */
export const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

/** Builds the same bytes as the responses of the gateway. */
export const problemResponse = (
  code: ProblemCode,
  requestId: string,
  { headers, ...members }: Parameters<typeof problemBody>[2] & { readonly headers?: Headers } = {},
): APIGatewayProxyResult => {
  const body = problemBody(code, requestId, members);
  return {
    statusCode: body.status,
    headers: {
      'Content-Type': PROBLEM_CONTENT_TYPE,
      ...(body.retry_after !== undefined && { 'Retry-After': String(body.retry_after) }),
      ...headers,
    },
    body: jsonText(body),
  };
};

export const complete = (
  scope: RequestScope,
  response: APIGatewayProxyResult,
  error?: Problem,
): APIGatewayProxyResult => {
  const { caller, keyExpiresSoonAt, counted, requestId, startedAtMonotonicMs, calls, mayBeStored } = scope;
  logEvent('request_completed', {
    status: response.statusCode,
    code: error?.code,
    outcome: error?.code ?? 'ok',
    duration_ms: Math.round(performance.now() - startedAtMonotonicMs),
    calls: calls.map(({ target, ms }) => `${target}=${ms}`).join(' '),
    ...(error !== undefined &&
      response.statusCode >= 500 && { cause_kind: causeKindOf(error), ...causeFields(error.cause) }),
    seller_id: caller?.sellerId,
    key_id: caller?.keyId,
    plan: caller?.plan,
  });
  const exceeded = error instanceof RateLimitExceeded ? error.item : undefined;
  const limits = [counted?.plan, exceeded].filter((item) => item !== undefined);
  return {
    ...response,
    headers: {
      ...commonHeaders(requestId, mayBeStored && error === undefined),
      ...rateLimitHeaders(limits),
      ...(keyExpiresSoonAt !== undefined && { 'X-Api-Key-Expires-At': timeText(keyExpiresSoonAt) }),
      ...response.headers,
    },
  };
};

const problemFrom = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  // Without the parser's error as its cause, since that holds the text.
  if (isParserError(error)) return problem('malformed_json');
  return isDependencyFailure(error) ? serviceUnavailable(error) : problem('internal', { cause: error });
};

/** An unexpected error becomes `internal`, with its cause in the log only. */
export const completeWithProblem = (scope: RequestScope, error: unknown): APIGatewayProxyResult => {
  const thrown = problemFrom(error);
  const { code, texts, retryAfterSeconds } = thrown;
  if (code === 'internal') {
    logEvent('request_failed', errorFields(thrown.cause ?? thrown));
  }
  return complete(scope, problemResponse(code, scope.requestId, { ...texts, retryAfterSeconds }), thrown);
};
