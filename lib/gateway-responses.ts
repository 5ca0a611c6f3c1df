import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { jsonText, PROBLEM_CONTENT_TYPE, STRICT_TRANSPORT_SECURITY } from '#shared/http/responses.ts';
import {
  insufficientScopeDetail,
  type ProblemBody,
  type ProblemCode,
  problemBody,
  SERVICE_RETRY_AFTER_SECONDS,
} from '#shared/problems.ts';

/** The problem code of each response type that API Gateway generates itself. */
export const GATEWAY_PROBLEMS = {
  UNAUTHORIZED: 'invalid_api_key',
  // The authorizer accepted the key, but no usage plan has it. The caller gets the same response as for every invalid key.
  INVALID_API_KEY: 'invalid_api_key',
  EXPIRED_TOKEN: 'invalid_api_key',
  INVALID_SIGNATURE: 'invalid_api_key',
  ACCESS_DENIED: 'insufficient_scope',
  MISSING_AUTHENTICATION_TOKEN: 'not_found',
  RESOURCE_NOT_FOUND: 'not_found',
  THROTTLED: 'rate_limit_exceeded',
  QUOTA_EXCEEDED: 'rate_limit_exceeded',
  // The rules of the firewall are limits of each client address, and during a flood of malformed keys one that blocks these.
  WAF_FILTERED: 'rate_limit_exceeded',
  BAD_REQUEST_BODY: 'malformed_json',
  BAD_REQUEST_PARAMETERS: 'validation_failed',
  REQUEST_TOO_LARGE: 'body_too_large',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
  // Lambda refused to start the function: its concurrency is used up. Nothing was run.
  API_CONFIGURATION_ERROR: 'service_unavailable',
  // The authorizer could not read the key. That says nothing about the key, so it must not return 401.
  AUTHORIZER_CONFIGURATION_ERROR: 'service_unavailable',
  AUTHORIZER_FAILURE: 'service_unavailable',
  INTEGRATION_FAILURE: 'service_unavailable',
  INTEGRATION_TIMEOUT: 'internal',
} as const satisfies Record<string, ProblemCode>;

/** The types for everything else, for example types that AWS adds later. */
export const FALLBACKS = ['DEFAULT_4XX', 'DEFAULT_5XX'] as const;

/** API Gateway replaces this with the request id. A caller can set `requestId` by a header, but not the extended one. */
const REQUEST_ID = '$context.extendedRequestId';

/** Retry-After in seconds, by problem code: fixed numbers, since a gateway response cannot compute. */
const RETRY_AFTER: { readonly [Code in ProblemCode]?: number } = {
  rate_limit_exceeded: 60,
  service_unavailable: SERVICE_RETRY_AFTER_SECONDS,
};

const headersOf = ({ retry_after }: Pick<ProblemBody, 'retry_after'>): Record<string, string> => ({
  'Content-Type': `'${PROBLEM_CONTENT_TYPE}'`,
  'Cache-Control': "'no-store'",
  'Strict-Transport-Security': `'${STRICT_TRANSPORT_SECURITY}'`,
  'X-Request-Id': 'context.extendedRequestId',
  ...(retry_after !== undefined && { 'Retry-After': `'${retry_after}'` }),
});

/** The types that come after the authorizer, which provides the headers of the caller's plan. */
const LIMITED_BY_PLAN: readonly string[] = ['THROTTLED', 'QUOTA_EXCEEDED'];

const PLAN_HEADERS = {
  RateLimit: 'context.authorizer.rateLimit',
  'RateLimit-Policy': 'context.authorizer.rateLimitPolicy',
};

/** API Gateway replaces these in the template without escaping them. So none of them may hold what a caller sent. */
const MISSING_SCOPE = insufficientScopeDetail({
  method: '$context.httpMethod',
  path: '$context.resourcePath',
  scopes: '$context.authorizer.scopes',
});

/** Adds a problem body to every response that API Gateway generates itself. */
export const addGatewayResponses = (api: RestApi): void => {
  for (const [type, code] of Object.entries(GATEWAY_PROBLEMS)) {
    const body = problemBody(code, REQUEST_ID, {
      detail: code === 'insufficient_scope' ? MISSING_SCOPE : undefined,
      retryAfterSeconds: RETRY_AFTER[code],
    });
    api.addGatewayResponse(`Response-${type}`, {
      type: ResponseType.of(type),
      statusCode: String(body.status),
      responseHeaders: { ...headersOf(body), ...(LIMITED_BY_PLAN.includes(type) && PLAN_HEADERS) },
      templates: { 'application/json': jsonText(body) },
    });
  }
  for (const type of FALLBACKS) {
    // A status set here would replace the status of every type of its class. So AWS sets it, and the body has no status member.
    const { status: _unknown, ...body } = problemBody('internal', REQUEST_ID);
    api.addGatewayResponse(`Response-${type}`, {
      type: ResponseType.of(type),
      responseHeaders: headersOf(body),
      templates: { 'application/json': jsonText(body) },
    });
  }
};
