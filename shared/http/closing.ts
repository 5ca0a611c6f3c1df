import type { APIGatewayProxyResult } from 'aws-lambda';
import { errorFields, logEvent } from '#shared/log.ts';
import { Problem, problem } from '#shared/problems.ts';
import type { RequestScope } from './request-scope.ts';
import { commonHeaders, type Headers, problemResponse } from './responses.ts';

/** The last word on every answer: its headers, and its one line in the log. */
export const close = (
  response: APIGatewayProxyResult,
  scope: RequestScope,
  refusal?: Problem,
): APIGatewayProxyResult => {
  const { caller, admission, requestId } = scope;
  logEvent('request_completed', {
    request_id: requestId,
    operation: scope.operation,
    status: response.statusCode,
    code: refusal?.code,
    outcome: refusal?.code ?? 'ok',
    duration_ms: scope.clock() - scope.startedAtMs,
    seller_id: caller?.sellerId,
    key_id: caller?.keyId,
    plan: caller?.plan,
  });
  return {
    ...response,
    headers: { ...commonHeaders(scope.path, requestId), ...admission?.headers(), ...response.headers },
  };
};

const problemOf = (error: unknown): Problem =>
  error instanceof Problem ? error : problem('internal', { cause: error });

/** An error as the answer to the caller. What nobody expected is `internal`, and its cause goes to the log alone. */
export const closeWithProblem = (error: unknown, scope: RequestScope): APIGatewayProxyResult => {
  const refusal = problemOf(error);
  const { code, errors, retryAfterSeconds } = refusal;
  if (code === 'internal') {
    logEvent('request_failed', {
      request_id: scope.requestId,
      operation: scope.operation,
      ...errorFields(refusal.cause ?? refusal),
    });
  }
  const headers: Headers =
    retryAfterSeconds === undefined ? {} : { 'Retry-After': String(Math.ceil(retryAfterSeconds)) };
  return close(problemResponse(code, scope.requestId, { errors, headers }), scope, refusal);
};
