import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { type Route, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { Config } from './config.ts';

/** The window in which the firewall counts the requests of an address, in seconds. */
const WINDOW_SECONDS = 300;

/** The window for the open routes. The shortest one of AWS: a throttle is used up within seconds. */
const OPEN_ROUTES_WINDOW_SECONDS = 60;

/** The share of the throttle of an open route that one address may use. */
const SHARE_OF_OPEN_ROUTES = 1 / 5;

/** Returns the name of the firewall in its metrics. Names of metrics are shared by the stages of an account and Region. */
export const firewallMetricName = (stage: string): string => `BuyerLinking-${stage}`;

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  // Samples hold request headers, and these hold API keys.
  sampledRequestsEnabled: false,
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

/** Matches each row that a condition holds for, by the part of its path before a parameter. */
const rowsThat = (isMatch: (row: Route) => boolean): CfnWebACL.StatementProperty => {
  const paths = new Set(allRoutes.filter(isMatch).map(({ path }) => path.replace(/\/\{.*$/, '')));
  return { orStatement: { statements: [...paths].map(pathContains) } };
};

type FirewallConfig = Pick<Config, 'stage' | 'otpAccess' | 'openRoutes'> & NonNullable<Config['firewall']>;

interface AddressLimit {
  readonly limit: number;
  readonly evaluationWindowSec: number;
  /** Counts only the requests that match; every request by default. */
  readonly scopeDownStatement?: CfnWebACL.StatementProperty;
}

/** The limits of requests of an address by the name of the metric. */
const limitsOf = (config: FirewallConfig): Readonly<Record<string, AddressLimit>> => ({
  RequestsPerAddress: { limit: config.requestsPerAddress, evaluationWindowSec: WINDOW_SECONDS },
  OpenRequestsPerAddress: {
    // 12 at least: AWS accepts no limit below 10.
    limit: Math.floor(
      config.openRoutes.requestsPerSecond * OPEN_ROUTES_WINDOW_SECONDS * SHARE_OF_OPEN_ROUTES,
    ),
    evaluationWindowSec: OPEN_ROUTES_WINDOW_SECONDS,
    scopeDownStatement: rowsThat((row) => !requiresKey(row, config.otpAccess)),
  },
  ...(config.otpAccess === 'public' && {
    OneTimeCodesPerAddress: {
      limit: config.codesPerAddress,
      evaluationWindowSec: WINDOW_SECONDS,
      scopeDownStatement: rowsThat(({ access }) => access.by === 'otp'),
    },
  }),
});

/**
 * Adds a web firewall with limits of requests for each client address: for all of them, and for those that require no key, of which one
 * address may use a fifth, so that others can read the public keys. Where the one-time-code operations require no key, they have a limit
 * of their own.
 */
export const addFirewall = (scope: Construct, stage: Stage, config: FirewallConfig): void => {
  const firewall = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility(firewallMetricName(config.stage)),
    rules: Object.entries(limitsOf(config)).map(([metricName, limit], priority) => ({
      // RequestsPerAddress: requests-per-address.
      name: metricName.replaceAll(/(?!^)[A-Z]/g, '-$&').toLowerCase(),
      priority,
      action: { block: {} },
      statement: { rateBasedStatement: { aggregateKeyType: 'IP', ...limit } },
      visibilityConfig: visibility(metricName),
    })),
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stage.stageArn,
    webAclArn: firewall.attrArn,
  });
};
