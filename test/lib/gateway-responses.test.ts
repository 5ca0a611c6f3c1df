import { describe, expect, test } from '@jest/globals';
import { ResponseType } from 'aws-cdk-lib/aws-apigateway';
import { FALLBACKS, GATEWAY_PROBLEMS } from '#lib/gateway-responses.ts';
import { PROBLEMS, problemBody } from '#shared/problems.ts';
import { resourcesOf, templatesOf } from './synthesised.ts';

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

const bodyOf = (type: string): unknown =>
  JSON.parse(responseOf(type).ResponseTemplates['application/json'] ?? '');

/** Every type that the CDK knows. */
const allTypes = Object.values(ResponseType)
  .filter((type): type is ResponseType => type instanceof ResponseType)
  .map(({ responseType }) => responseType);

describe('the answers that API Gateway makes by itself', () => {
  test('cover every type there is', () => {
    expect(responses.map((response) => response.ResponseType).sort()).toEqual([...allTypes].sort());
  });

  test.each(Object.entries(GATEWAY_PROBLEMS))('%s is the problem %s, byte for byte', (type, code) => {
    expect(responseOf(type).StatusCode).toBe(String(PROBLEMS[code].status));
    expect(bodyOf(type)).toEqual(problemBody(code, '$context.extendedRequestId'));
  });

  test.each(allTypes)(
    '%s says that it is a problem, whose request it answers, and that no cache may keep it',
    (type) => {
      expect(header(type, 'Content-Type')).toBe("'application/problem+json'");
      expect(header(type, 'X-Request-Id')).toBe('context.extendedRequestId');
      expect(header(type, 'Cache-Control')).toBe("'no-store'");
    },
  );

  test.each(FALLBACKS)('%s leaves the status to AWS, in the line and in the body', (type) => {
    expect(responseOf(type).StatusCode).toBeUndefined();
    expect(bodyOf(type)).not.toHaveProperty('status');
    expect(bodyOf(type)).toMatchObject({ code: 'internal' });
  });

  test('every refusal of a key is one and the same', () => {
    const { ResponseType: _own, ...unauthorized } = responseOf('UNAUTHORIZED');
    const { ResponseType: _other, ...unknownToPlans } = responseOf('INVALID_API_KEY');
    expect(unknownToPlans).toEqual(unauthorized);
  });

  test.each(['THROTTLED', 'QUOTA_EXCEEDED'])('%s says when to try again and what the plan is', (type) => {
    expect(header(type, 'Retry-After')).toBe("'60'");
    expect(header(type, 'RateLimit')).toBe('context.authorizer.rateLimit');
    expect(header(type, 'RateLimit-Policy')).toBe('context.authorizer.rateLimitPolicy');
  });

  test('the firewall stands before the authorizer, so its refusal copies nothing from it', () => {
    expect(header('WAF_FILTERED', 'Retry-After')).toBe("'60'");
    expect(header('WAF_FILTERED', 'RateLimit')).toBeUndefined();
  });

  test('no template repeats what a caller sent', () => {
    expect(JSON.stringify(responses)).not.toMatch(
      /context\.path|context\.error|method\.request|context\.requestId/,
    );
  });
});
