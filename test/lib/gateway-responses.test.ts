import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { FALLBACKS, GATEWAY_PROBLEMS } from '#lib/gateway-responses.ts';
import { problemResponse } from '#shared/http/responses.ts';
import { PROBLEMS, type ProblemCode } from '#shared/problems.ts';
import { itForAll } from '#test/for-all.ts';
import { resourcesOf, templatesOf } from './synthesized.ts';

interface GatewayResponse {
  readonly ResponseType: string;
  readonly StatusCode?: string;
  readonly ResponseParameters: Readonly<Record<string, string>>;
  readonly ResponseTemplates: Readonly<Record<string, string>>;
}

const responses = Object.values(resourcesOf(templatesOf('dev').api, 'AWS::ApiGateway::GatewayResponse')).map(
  ({ Properties }) => Properties as GatewayResponse,
);

const responseOf = (type: string): GatewayResponse =>
  responses.find(({ ResponseType: itsType }) => itsType === type) as GatewayResponse;

const header = (type: string, name: string): string | undefined =>
  responseOf(type).ResponseParameters[`gatewayresponse.header.${name}`];

const bodyOf = (type: string): string => responseOf(type).ResponseTemplates['application/json'] ?? '';

const jsonOf = (type: string): unknown => JSON.parse(bodyOf(type));

/** Seconds, of the responses that have Retry-After. */
const RETRY_AFTER: { readonly [Code in ProblemCode]?: number } = {
  rate_limit_exceeded: 60,
  service_unavailable: 5,
};

const MISSING_SCOPE =
  '$context.httpMethod $context.resourcePath needs a scope that this key does not have. It has: $context.authorizer.scopes. /docs names the scope of each operation; whoever issued the key can add it.';

/** Every response type of the CDK. */
const allTypes = Object.values(ResponseType)
  .filter((type): type is ResponseType => type instanceof ResponseType)
  .map(({ responseType }) => responseType);

describe('the responses that API Gateway generates itself', () => {
  test('cover every response type', () => {
    expect(responses.map((response) => response.ResponseType).sort()).toEqual([...allTypes].sort());
  });

  test('must not be stored, and tell browsers to use TLS', () => {
    const headers = allTypes.map((type) => [
      header(type, 'Cache-Control'),
      header(type, 'Strict-Transport-Security'),
    ]);
    expect(headers).toEqual(allTypes.map(() => ["'no-store'", "'max-age=31536000'"]));
  });

  itForAll(Object.entries(GATEWAY_PROBLEMS))(
    'have the status and the exact body of their problem',
    (type, code) => {
      expect(responseOf(type).StatusCode).toBe(String(PROBLEMS[code].status));
      const detail = code === 'insufficient_scope' ? MISSING_SCOPE : undefined;
      const { body, headers } = problemResponse(code, '$context.extendedRequestId', {
        detail,
        retryAfterSeconds: RETRY_AFTER[code],
      });
      expect(bodyOf(type)).toBe(body);
      expect(header(type, 'Retry-After')).toBe(headers?.['Retry-After'] && `'${headers['Retry-After']}'`);
    },
  );

  test.each(allTypes)('%s has the content type of problems, the request id and no-store', (type) => {
    expect(header(type, 'Content-Type')).toBe("'application/problem+json'");
    expect(header(type, 'X-Request-Id')).toBe('context.extendedRequestId');
    expect(header(type, 'Cache-Control')).toBe("'no-store'");
  });

  test.each(FALLBACKS)('%s sets no status, neither in the status line nor in the body', (type) => {
    expect(responseOf(type).StatusCode).toBeUndefined();
    expect(jsonOf(type)).not.toHaveProperty('status');
    expect(jsonOf(type)).toMatchObject({ code: 'internal' });
  });

  test('the response to an unknown key is identical with the response to a missing key', () => {
    const { ResponseType: _own, ...unauthorized } = responseOf('UNAUTHORIZED');
    const { ResponseType: _other, ...unknownToPlans } = responseOf('INVALID_API_KEY');
    expect(unknownToPlans).toEqual(unauthorized);
  });

  test.each(['THROTTLED', 'QUOTA_EXCEEDED'])(
    '%s has Retry-After and the rate limit headers of the plan',
    (type) => {
      expect(header(type, 'Retry-After')).toBe("'60'");
      expect(jsonOf(type)).toMatchObject({ retry_after: 60 });
      expect(header(type, 'RateLimit')).toBe('context.authorizer.rateLimit');
      expect(header(type, 'RateLimit-Policy')).toBe('context.authorizer.rateLimitPolicy');
    },
  );

  test.each([
    'API_CONFIGURATION_ERROR',
    'AUTHORIZER_FAILURE',
    'AUTHORIZER_CONFIGURATION_ERROR',
    'INTEGRATION_FAILURE',
  ])('%s returns 503 service_unavailable with Retry-After and not 401', (type) => {
    expect(responseOf(type).StatusCode).toBe('503');
    expect(jsonOf(type)).toMatchObject({ code: 'service_unavailable', status: 503, retry_after: 5 });
    expect(header(type, 'Retry-After')).toBe("'5'");
  });

  test('REQUEST_TOO_LARGE returns 413 body_too_large', () => {
    expect(responseOf('REQUEST_TOO_LARGE').StatusCode).toBe('413');
    expect(jsonOf('REQUEST_TOO_LARGE')).toMatchObject({ code: 'body_too_large', status: 413 });
  });

  test('the response of the firewall has no headers of a plan, because no authorizer ran', () => {
    expect(header('WAF_FILTERED', 'Retry-After')).toBe("'60'");
    expect(header('WAF_FILTERED', 'RateLimit')).toBeUndefined();
  });

  test('no template contains a value that the caller sent', () => {
    expect(responses).toHaveLength(allTypes.length);
    expect(JSON.stringify(responses)).not.toMatch(
      /context\.path|context\.error|method\.request|context\.requestId/,
    );
  });
});
