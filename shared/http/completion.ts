import type { APIGatewayProxyResult } from 'aws-lambda';
import { causeFields, errorFields, logEvent } from '#shared/log.ts';
import { Problem, problem, serviceUnavailable } from '#shared/problems.ts';
import { rateLimitHeaders } from '#shared/rate-limits/limits.ts';
import { KeyLimitExceeded } from '#shared/rate-limits/request-limits.ts';
import { isDependencyFailure } from './dependency-failure.ts';
import { currentScope } from './request-scope.ts';
import { commonHeaders, problemResponse } from './responses.ts';

/** Adds the common headers to a response and logs the request's completion line. */
export const complete = (response: APIGatewayProxyResult, error?: Problem): APIGatewayProxyResult => {
  const { caller, planLimit, requestId, startedAtMonotonicMs, calls, path } = currentScope();
  logEvent('request_completed', {
    status: response.statusCode,
    code: error?.code,
    outcome: error?.code ?? 'ok',
    duration_ms: Math.round(performance.now() - startedAtMonotonicMs),
    calls: calls.map(({ target, ms }) => `${target}=${ms}`).join(' '),
    ...(response.statusCode >= 500 ? causeFields(error?.cause) : {}),
    seller_id: caller?.sellerId,
    key_id: caller?.keyId,
    plan: caller?.plan,
  });
  const exceeded = error instanceof KeyLimitExceeded ? error.item : undefined;
  const limits = [planLimit?.headerItem(), exceeded].filter((item) => item !== undefined);
  return {
    ...response,
    headers: { ...commonHeaders(path, requestId), ...rateLimitHeaders(limits), ...response.headers },
  };
};

const problemFrom = (error: unknown): Problem => {
  if (error instanceof Problem) return error;
  return isDependencyFailure(error) ? serviceUnavailable(error) : problem('internal', { cause: error });
};

/** Turns an error into its response. An unexpected error becomes `internal`, with its cause in the log only. */
export const completeWithProblem = (error: unknown): APIGatewayProxyResult => {
  const thrown = problemFrom(error);
  const { code, errors, detail, user_id, retryAfterSeconds } = thrown;
  if (code === 'internal') {
    logEvent('request_failed', errorFields(thrown.cause ?? thrown));
  }
  const headers: Record<string, string> =
    retryAfterSeconds === undefined
      ? {}
      : { 'Retry-After': String(Math.max(1, Math.ceil(retryAfterSeconds))) };
  return complete(
    problemResponse(code, currentScope().requestId, { errors, detail, user_id, headers }),
    thrown,
  );
};
