import { ResponseType, type RestApi } from 'aws-cdk-lib/aws-apigateway';
import { PROBLEM_CONTENT_TYPE } from '#shared/http/responses.ts';
import { PROBLEMS, type ProblemCode, problemBody } from '#shared/problems.ts';

/** Every refusal that API Gateway makes by itself -> what it is in our closed list. */
export const GATEWAY_PROBLEMS = {
  UNAUTHORIZED: 'invalid_api_key',
  // A key that the authorizer knows and the usage plans do not: to the caller a key that is not valid, like any other.
  INVALID_API_KEY: 'invalid_api_key',
  EXPIRED_TOKEN: 'invalid_api_key',
  INVALID_SIGNATURE: 'invalid_api_key',
  ACCESS_DENIED: 'insufficient_scope',
  MISSING_AUTHENTICATION_TOKEN: 'not_found',
  RESOURCE_NOT_FOUND: 'not_found',
  THROTTLED: 'rate_limit_exceeded',
  QUOTA_EXCEEDED: 'rate_limit_exceeded',
  // The only rule of our firewall is a limit for each address.
  WAF_FILTERED: 'rate_limit_exceeded',
  BAD_REQUEST_BODY: 'malformed_json',
  BAD_REQUEST_PARAMETERS: 'validation_failed',
  // Ten megabytes are not one JSON object of a few short fields. AWS documents this type and is not known to send it.
  REQUEST_TOO_LARGE: 'malformed_json',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
  API_CONFIGURATION_ERROR: 'internal',
  AUTHORIZER_CONFIGURATION_ERROR: 'internal',
  AUTHORIZER_FAILURE: 'internal',
  INTEGRATION_FAILURE: 'internal',
  INTEGRATION_TIMEOUT: 'internal',
} as const satisfies Record<string, ProblemCode>;

/** What is left over: types that AWS may add. */
export const FALLBACKS = ['DEFAULT_4XX', 'DEFAULT_5XX'] as const;

/** API Gateway puts the id in here. A caller can choose `requestId` by a header; nobody can choose the extended one. */
const REQUEST_ID = '$context.extendedRequestId';

/** Seconds. A gateway-made answer can copy a value but not compute one, and a bucket has room again within its window. */
const RETRY_AFTER = '60';

const headersOf = (code: ProblemCode): Record<string, string> => ({
  'Content-Type': `'${PROBLEM_CONTENT_TYPE}'`,
  'Cache-Control': "'no-store'",
  'X-Request-Id': 'context.extendedRequestId',
  ...(code === 'rate_limit_exceeded' && { 'Retry-After': `'${RETRY_AFTER}'` }),
});

/** Only behind the authorizer is it known who calls; a firewall stands before it. */
const LIMITED_BY_PLAN: readonly string[] = ['THROTTLED', 'QUOTA_EXCEEDED'];

const PLAN_HEADERS = {
  RateLimit: 'context.authorizer.rateLimit',
  'RateLimit-Policy': 'context.authorizer.rateLimitPolicy',
};

/** Gives every answer that API Gateway makes by itself the form of our own. */
export const addGatewayResponses = (api: RestApi): void => {
  for (const [type, code] of Object.entries(GATEWAY_PROBLEMS)) {
    api.addGatewayResponse(`Response-${type}`, {
      type: ResponseType.of(type),
      statusCode: String(PROBLEMS[code].status),
      responseHeaders: { ...headersOf(code), ...(LIMITED_BY_PLAN.includes(type) && PLAN_HEADERS) },
      templates: { 'application/json': JSON.stringify(problemBody(code, REQUEST_ID)) },
    });
  }
  for (const type of FALLBACKS) {
    // A status given here would become the status of every type; so it is left to AWS, and the body does not claim one it cannot know.
    const { status: _unknown, ...body } = problemBody('internal', REQUEST_ID);
    api.addGatewayResponse(`Response-${type}`, {
      type: ResponseType.of(type),
      responseHeaders: headersOf('internal'),
      templates: { 'application/json': JSON.stringify(body) },
    });
  }
};
