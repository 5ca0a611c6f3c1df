import { Size, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiKeySourceType,
  type CfnRestApi,
  EndpointAccessMode,
  EndpointType,
  type IRestApi,
  LogGroupLogDestination,
  type MethodDeploymentOptions,
  RestApi,
  SecurityPolicy,
  UsagePlan,
} from 'aws-cdk-lib/aws-apigateway';
import { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import type { ILogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { PLAN_NAMES, PLANS, type PlanName, usagePlanThrottle } from '#shared/rate-limits/plans.ts';
import { forEachPath, methodsOf, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { Config } from './config.ts';

/** TLS 1.2 or newer with forward secrecy. STRICT also rejects a request whose Host header names another endpoint than its TLS handshake. */
const TLS = {
  securityPolicy: SecurityPolicy.TLS13_1_2_PFS_PQ_2025_09,
  endpointAccessMode: EndpointAccessMode.STRICT,
} as const;

/** One JSON line for each request. It identifies the caller by key id, seller id and address and holds no path, query or header of the request. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    time: AccessLogField.contextRequestTime(),
    request_id: AccessLogField.contextExtendedRequestId(),
    domain: AccessLogField.contextDomainName(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    refusal: AccessLogField.contextErrorResponseType(),
    key_id: AccessLogField.contextAuthorizerPrincipalId(),
    seller_id: AccessLogField.contextAuthorizer('sellerId'),
    address: AccessLogField.contextIdentitySourceIp(),
    latency_ms: AccessLogField.contextResponseLatency(),
    authorizer_status: AccessLogField.contextAuthorizerStatus(),
    authorizer_ms: AccessLogField.contextAuthorizerLatency(),
    function_status: AccessLogField.contextIntegrationStatus(),
    function_ms: AccessLogField.contextIntegrationLatency(),
    function_request_id: AccessLogField.contextAwsEndpointRequestId(),
    response_bytes: AccessLogField.contextResponseLength(),
  }),
);

const throttleOf = ({ requestsPerSecond, burst }: Config['openRoutes']): MethodDeploymentOptions => ({
  throttlingRateLimit: requestsPerSecond,
  throttlingBurstLimit: burst,
});

/**
 * The throttle of HEAD, as a share of that of GET. Each method has a bucket of its own, so HEAD adds to what a flood can cost; only programs
 * that check links or the service use it.
 */
const SHARE_OF_HEAD = 1 / 10;

/**
 * The throttle of each path of the documentation site: ten first visits at once, of about twenty files each, which browsers then keep. It bounds
 * what downloads of its largest file can cost: docs/operators/deploy.md, "Costs".
 */
export const SITE_THROTTLE: Config['openRoutes'] = { requestsPerSecond: 10, burst: 200 };

const headThrottleOf = ({ requestsPerSecond, burst }: Config['openRoutes']): Config['openRoutes'] => ({
  requestsPerSecond: requestsPerSecond * SHARE_OF_HEAD,
  burst: Math.ceil(burst * SHARE_OF_HEAD),
});

/** Returns the throttles of the methods: one bucket for each row. A row that requires no key has no plan, so its bucket is smaller. */
const throttlesOf = ({
  openRoutes,
  keyedRoutes,
  otpAccess,
}: Config): Record<string, MethodDeploymentOptions> => ({
  '/*/*': throttleOf(keyedRoutes),
  ...Object.fromEntries(
    forEachPath(allRoutes)
      .filter((route) => !requiresKey(route, otpAccess))
      .flatMap((route) => {
        const throttle = route.permissions.site ? SITE_THROTTLE : openRoutes;
        return methodsOf(route).map((method) => [
          `${route.path}/${method}`,
          throttleOf(method === 'HEAD' ? headThrottleOf(throttle) : throttle),
        ]);
      }),
  ),
});

/** Adds the REST API of a stage, without its methods. */
export const restApi = (scope: Construct, name: string, config: Config, accessLog: ILogGroup): RestApi => {
  const api = new RestApi(scope, 'Api', {
    restApiName: name,
    description: `Buyer Linking (${config.stage})`,
    endpointTypes: [EndpointType.REGIONAL],
    // The authorizer returns the key of the usage plan. The plan never gets the key that the caller sends.
    apiKeySourceType: ApiKeySourceType.AUTHORIZER,
    // Compresses the pages and scripts of the documentation to a quarter. Most other responses are smaller than this limit.
    minCompressionSize: Size.kibibytes(10),
    disableExecuteApiEndpoint: config.domain?.defaultEndpoint === 'closed',
    // API Gateway writes logs only if the account's settings have this role. It belongs to the account, so a deleted stack keeps it.
    cloudWatchRole: true,
    deployOptions: {
      stageName: config.stage,
      // A trace of API Gateway holds the URL with its query, and so phones: docs/operators/privacy.md.
      tracingEnabled: false,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat,
      methodOptions: throttlesOf(config),
    },
  });
  // The RestApi construct of CDK 2.276 has no property for these two.
  const resource = api.node.defaultChild as CfnRestApi;
  resource.securityPolicy = TLS.securityPolicy;
  resource.endpointAccessMode = TLS.endpointAccessMode;
  acknowledge(api);
  return api;
};

const acknowledge = (api: RestApi): void => {
  Validations.of(api).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'Each function validates bodies and queries with its schema and names every fault in the response.',
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs hold headers and bodies, which contain API keys and personal data. The access log and the function logs replace them.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'The firewall is an option of the stage; API keys, usage plans and rate limiters limit callers without it.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason: 'The account role with which API Gateway writes logs; AWS requires this policy.',
    },
  );
};

/**
 * Adds the custom domain to the API, if the stage has one. Returns the addresses of the stage, the base URL first: the default endpoint while it
 * is open, since a new domain has no DNS record yet.
 */
export const addressesOf = (
  api: RestApi,
  { domain, stage }: Config,
): readonly [baseUrl: string, ...others: string[]] => {
  if (domain === null) return [defaultUrlOf(api, stage)];
  api.addDomainName('Domain', {
    domainName: domain.name,
    certificate: Certificate.fromCertificateArn(api, 'Certificate', domain.certificateArn),
    ...TLS,
  });
  const domainUrl = domainUrlOf(domain);
  return domain.defaultEndpoint === 'closed' ? [domainUrl] : [defaultUrlOf(api, stage), domainUrl];
};

/** Returns the issuers of the stage's tokens, the one of new tokens first. */
export const issuersOf = (api: RestApi, { domain, issuers, stage }: Config): readonly string[] =>
  issuers.map((issuer) =>
    domain !== null && issuer === 'domain' ? domainUrlOf(domain) : defaultUrlOf(api, stage),
  );

const domainUrlOf = ({ name }: NonNullable<Config['domain']>): string => `https://${name}`;

/** Returns the URL of the default endpoint. It refers to the API only, because a function that holds it is created before the stage. */
const defaultUrlOf = (api: IRestApi, stage: string): string =>
  `https://${api.restApiId}.execute-api.${api.stack.region}.${api.stack.urlSuffix}/${stage}`;

/** Adds an API Gateway usage plan for each plan of shared/rate-limits/plans.ts. The admin CLI adds the keys. */
export const addUsagePlans = (scope: Construct, api: RestApi, name: string) => {
  const planOf = (plan: PlanName): UsagePlan =>
    new UsagePlan(scope, `UsagePlan-${plan}`, {
      name: `${name}-${plan}`,
      description: `${PLANS[plan].requestsPerMinute} requests a minute`,
      throttle: usagePlanThrottle(plan),
      apiStages: [{ api, stage: api.deploymentStage }],
    });
  return PLAN_NAMES.map((plan) => [plan, planOf(plan)] as const);
};
