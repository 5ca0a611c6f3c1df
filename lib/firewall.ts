import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { allRoutes } from '#shared/routes.ts';
import type { Config } from './config.ts';

/** The window in which the firewall counts the requests of an address, in seconds. */
const WINDOW_SECONDS = 300;

/** Requests of one address to the one-time-code operations together in a window, where these require no key. */
const OTP_REQUESTS_PER_ADDRESS = 100;

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  // Samples hold request headers, and these hold API keys.
  sampledRequestsEnabled: false,
});

interface AddressLimit {
  readonly name: string;
  readonly metricName: string;
  readonly limit: number;
  /** Counts only the requests that match; every request by default. */
  readonly scopeDownStatement?: CfnWebACL.StatementProperty;
}

const addressLimit = (
  { name, metricName, limit, scopeDownStatement }: AddressLimit,
  priority: number,
): CfnWebACL.RuleProperty => ({
  name,
  priority,
  action: { block: {} },
  statement: {
    rateBasedStatement: {
      aggregateKeyType: 'IP',
      limit,
      evaluationWindowSec: WINDOW_SECONDS,
      ...(scopeDownStatement && { scopeDownStatement }),
    },
  },
  visibilityConfig: visibility(metricName),
});

/** Matches a path of the API. The default endpoint puts the stage's name before the path, a custom domain does not. */
const pathContains = (searchString: string): CfnWebACL.StatementProperty => ({
  byteMatchStatement: {
    fieldToMatch: { uriPath: {} },
    positionalConstraint: 'CONTAINS',
    searchString,
    // API Gateway routes an encoded path as its plain form, so the rule must see it plain too.
    textTransformations: [
      { priority: 0, type: 'URL_DECODE' },
      { priority: 1, type: 'NORMALIZE_PATH' },
    ],
  },
});

const otpPaths = allRoutes.filter(({ access }) => access.by === 'otp').map(({ path }) => path);

/**
 * Adds a web firewall with a limit of requests for each client address. Where the one-time-code operations require no key, a second
 * rule limits an address to 100 requests of these operations in 5 minutes.
 */
export const addFirewall = (
  scope: Construct,
  stage: Stage,
  { requestsPerAddress, otpAccess }: { readonly requestsPerAddress: number } & Pick<Config, 'otpAccess'>,
): void => {
  const limits: readonly AddressLimit[] = [
    { name: 'requests-per-address', metricName: 'RequestsPerAddress', limit: requestsPerAddress },
    ...(otpAccess === 'public'
      ? [
          {
            name: 'one-time-codes-per-address',
            metricName: 'OneTimeCodesPerAddress',
            limit: OTP_REQUESTS_PER_ADDRESS,
            scopeDownStatement: { orStatement: { statements: otpPaths.map(pathContains) } },
          },
        ]
      : []),
  ];
  const firewall = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility('Firewall'),
    rules: limits.map(addressLimit),
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stage.stageArn,
    webAclArn: firewall.attrArn,
  });
};
