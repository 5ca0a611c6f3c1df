import type { ProblemCode } from '#shared/problems.ts';

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
  // Every rule of the firewall is a limit for each client address.
  WAF_FILTERED: 'rate_limit_exceeded',
  BAD_REQUEST_BODY: 'malformed_json',
  BAD_REQUEST_PARAMETERS: 'validation_failed',
  REQUEST_TOO_LARGE: 'body_too_large',
  UNSUPPORTED_MEDIA_TYPE: 'unsupported_media_type',
  API_CONFIGURATION_ERROR: 'internal',
  // The authorizer could not read the key. That says nothing about the key, so it must not return 401.
  AUTHORIZER_CONFIGURATION_ERROR: 'service_unavailable',
  AUTHORIZER_FAILURE: 'service_unavailable',
  // Lambda refused to start the function: its concurrency is used up. Nothing was run.
  INTEGRATION_FAILURE: 'service_unavailable',
  INTEGRATION_TIMEOUT: 'internal',
} as const satisfies Record<string, ProblemCode>;
