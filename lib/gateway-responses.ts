import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { jsonText, PROBLEM_CONTENT_TYPE } from '#shared/http/responses.ts';
import { PROBLEMS, type ProblemCode, problemBody, SERVICE_RETRY_AFTER_SECONDS } from '#shared/problems.ts';
import { GATEWAY_PROBLEMS } from './gateway-problems.ts';

/** The types for everything else, for example types that AWS adds later. */
export const FALLBACKS = ['DEFAULT_4XX', 'DEFAULT_5XX'] as const;

/** API Gateway replaces this with the request id. A caller can set `requestId` by a header, but not the extended one. */
const REQUEST_ID = '$context.extendedRequestId';

/** Retry-After in seconds, by problem code: fixed numbers, since a gateway response cannot compute. */
const RETRY_AFTER: { readonly [Code in ProblemCode]?: number } = {
  rate_limit_exceeded: 60,
  service_unavailable: SERVICE_RETRY_AFTER_SECONDS,
};

const headersOf = (code: ProblemCode): Record<string, string> => ({
  'Content-Type': `'${PROBLEM_CONTENT_TYPE}'`,
  'Cache-Control': "'no-store'",
  'X-Request-Id': 'context.extendedRequestId',
  ...(RETRY_AFTER[code] !== undefined && { 'Retry-After': `'${RETRY_AFTER[code]}'` }),
});

/** The types that come after the authorizer, which provides the headers of the caller's plan. */
const LIMITED_BY_PLAN: readonly string[] = ['THROTTLED', 'QUOTA_EXCEEDED'];

const PLAN_HEADERS = {
  RateLimit: 'context.authorizer.rateLimit',
  'RateLimit-Policy': 'context.authorizer.rateLimitPolicy',
};

/** Adds a problem body to every response that API Gateway generates itself. */
export const addGatewayResponses = (api: RestApi): void => {
  for (const [type, code] of Object.entries(GATEWAY_PROBLEMS)) {
    api.addGatewayResponse(`Response-${type}`, {
      type: ResponseType.of(type),
      statusCode: String(PROBLEMS[code].status),
      responseHeaders: { ...headersOf(code), ...(LIMITED_BY_PLAN.includes(type) && PLAN_HEADERS) },
      templates: { 'application/json': jsonText(problemBody(code, REQUEST_ID)) },
    });
  }
  for (const type of FALLBACKS) {
    // A status set here would replace the status of every type of its class. So AWS sets it, and the body has no status member.
    const { status: _unknown, ...body } = problemBody('internal', REQUEST_ID);
    api.addGatewayResponse(`Response-${type}`, {
      type: ResponseType.of(type),
      responseHeaders: headersOf('internal'),
      templates: { 'application/json': jsonText(body) },
    });
  }
};
