import { Duration, type RemovalPolicy, Size, Validations } from 'aws-cdk-lib';
import {
  AccessLogField,
  AccessLogFormat,
  ApiKeySourceType,
  AuthorizationType,
  EndpointType,
  IdentitySource,
  type IRestApi,
  LambdaIntegration,
  LogGroupLogDestination,
  type Method,
  type MethodDeploymentOptions,
  RequestAuthorizer,
  RestApi,
} from 'aws-cdk-lib/aws-apigateway';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { LogGroup } from 'aws-cdk-lib/aws-logs';
import type { Construct } from 'constructs';
import { type Route, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { Config } from './config.ts';

/** How long API Gateway keeps the authorizer's answer for a key. Revoking a key empties the cache, so it need not be short. */
const AUTHORIZER_CACHE = Duration.minutes(5);

/** One JSON line a request. Of who calls it holds the key's id and the address; of what was sent, nothing: no path, query or header. */
const accessLogFormat = AccessLogFormat.custom(
  JSON.stringify({
    time: AccessLogField.contextRequestTime(),
    request_id: AccessLogField.contextExtendedRequestId(),
    method: AccessLogField.contextHttpMethod(),
    resource: AccessLogField.contextResourcePath(),
    status: AccessLogField.contextStatus(),
    refusal: AccessLogField.contextErrorResponseType(),
    key_id: AccessLogField.contextAuthorizerPrincipalId(),
    address: AccessLogField.contextIdentitySourceIp(),
    latency_ms: AccessLogField.contextResponseLatency(),
    authorizer_status: AccessLogField.contextAuthorizerStatus(),
    authorizer_ms: AccessLogField.contextAuthorizerLatency(),
    function_status: AccessLogField.contextIntegrationStatus(),
    function_ms: AccessLogField.contextIntegrationLatency(),
    response_bytes: AccessLogField.contextResponseLength(),
    trace_id: AccessLogField.contextXrayTraceId(),
  }),
);

/** Rows that ask for no key have no plan that limits them: they share this limit, each its own bucket. */
const limitsOfOpenRoutes = ({ openRoutes, otpAccess }: Config): Record<string, MethodDeploymentOptions> =>
  Object.fromEntries(
    allRoutes
      .filter((route) => !requiresKey(route, otpAccess))
      .map(({ path, method }) => [
        `${path}/${method}`,
        { throttlingRateLimit: openRoutes.requestsPerSecond, throttlingBurstLimit: openRoutes.burst },
      ]),
  );

/** The API without its methods. */
export const restApi = (
  scope: Construct,
  name: string,
  config: Config,
  removalPolicy: RemovalPolicy,
): RestApi => {
  const accessLog = new LogGroup(scope, 'AccessLog', { retention: config.logRetentionDays, removalPolicy });
  const api = new RestApi(scope, 'Api', {
    restApiName: name,
    description: `Buyer Linking (${config.stage})`,
    endpointTypes: [EndpointType.REGIONAL],
    // The authorizer names the key of the usage plan; what the caller sends never reaches the plan.
    apiKeySourceType: ApiKeySourceType.AUTHORIZER,
    // The reference page's renderer is 1.7 MB as it is and 0.5 MB compressed; most other answers are below this size and pass as they are.
    minCompressionSize: Size.kibibytes(10),
    // With a domain of our own, it is the only way in.
    disableExecuteApiEndpoint: config.domain !== null,
    // Without this role in the account's settings API Gateway refuses to write any log. It belongs to the account: it is kept.
    cloudWatchRole: true,
    deployOptions: {
      stageName: config.stage,
      tracingEnabled: true,
      accessLogDestination: new LogGroupLogDestination(accessLog),
      accessLogFormat,
      methodOptions: limitsOfOpenRoutes(config),
    },
  });
  acknowledge(api);
  return api;
};

const acknowledge = (api: RestApi): void => {
  Validations.of(api).acknowledge(
    {
      id: 'AwsSolutions-APIG2',
      reason:
        'Each function holds bodies and queries to its schema, with a problem body that names every fault.',
    },
    {
      id: 'AwsSolutions-APIG6',
      reason:
        'Execution logs hold headers and bodies: API keys and personal data. The access log and the functions log what is needed.',
    },
    {
      id: 'AwsSolutions-APIG3',
      reason:
        'The firewall is an option of the stage; keys, plans and rate limiters limit callers without it.',
    },
    {
      id: 'AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/AmazonAPIGatewayPushToCloudWatchLogs]',
      reason:
        'The role of the account that API Gateway writes logs with; this is the policy that AWS asks it to have.',
    },
  );
};

interface Integrations {
  readonly config: Config;
  readonly authorizer: IFunction;
  readonly functionOf: (route: Route) => IFunction;
}

/** A method a row. A row that needs a key gets the authorizer and its usage plan; any other is open, and says why. */
export const addMethods = (api: RestApi, { config, authorizer: judge, functionOf }: Integrations): void => {
  const authorizer = new RequestAuthorizer(api, 'Authorizer', {
    handler: judge,
    identitySources: [IdentitySource.header('X-Api-Key')],
    resultsCacheTtl: AUTHORIZER_CACHE,
  });
  const keyed = { authorizer, authorizationType: AuthorizationType.CUSTOM, apiKeyRequired: true };
  for (const route of allRoutes) {
    const isKeyed = requiresKey(route, config.otpAccess);
    const method = api.root
      .resourceForPath(route.path)
      .addMethod(
        route.method,
        new LambdaIntegration(functionOf(route), { allowTestInvoke: false }),
        isKeyed ? keyed : { authorizationType: AuthorizationType.NONE, apiKeyRequired: false },
      );
    explain(method, isKeyed);
  }
};

const explain = (method: Method, isKeyed: boolean): void =>
  Validations.of(method).acknowledge(
    { id: 'AwsSolutions-COG4', reason: 'Callers are sellers’ servers with API keys; Cognito is for people.' },
    ...(isKeyed
      ? []
      : [
          {
            id: 'AwsSolutions-APIG4',
            reason: 'Open by its row in shared/routes.ts, and throttled by the stage.',
          },
        ]),
  );

/** The address that API Gateway gives. Made from the API's id alone: a function may hold it, though the stage comes after the function. */
export const defaultUrlOf = (api: IRestApi, stage: string): string =>
  `https://${api.restApiId}.execute-api.${api.stack.region}.${api.stack.urlSuffix}/${stage}`;
