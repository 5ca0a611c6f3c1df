import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { keyForm } from '#shared/api-keys/secret.ts';
import { type Route, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { Config } from './config.ts';

/** The window in which the firewall counts the requests of an address, in seconds. The shortest one of AWS: a throttle is used up within seconds. */
const WINDOW_SECONDS = 60;

/** The window for one-time codes: a buyer sends several of these requests within minutes. */
const CODES_WINDOW_SECONDS = 300;

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

/** API Gateway routes an encoded path as its plain form, so a rule must see it plain too. */
const PLAIN_PATH = {
  fieldToMatch: { uriPath: {} },
  textTransformations: [
    { priority: 0, type: 'URL_DECODE' },
    { priority: 1, type: 'NORMALIZE_PATH' },
  ],
};

/** Matches a path of the API and what begins with it. The default endpoint puts the stage's name before the path, a custom domain does not. */
const pathMatches = (path: string, stage: string): CfnWebACL.StatementProperty =>
  path === '/'
    ? { regexMatchStatement: { ...PLAIN_PATH, regexString: `^/(${stage}/?)?$` } }
    : { byteMatchStatement: { ...PLAIN_PATH, positionalConstraint: 'CONTAINS', searchString: path } };

/** Matches each row that a condition holds for, by the part of its path before a parameter. AWS accepts no `or` of one statement. */
const rowsThat = (isMatch: (row: Route) => boolean, stage: string): CfnWebACL.StatementProperty => {
  const paths = [...new Set(allRoutes.filter(isMatch).map(({ path }) => path.replace(/(?<=.)\/\{.*$/, '')))];
  const covered = (path: string) =>
    paths.some((other) => other !== path && other !== '/' && path.startsWith(`${other}/`));
  const statements = paths.filter((path) => !covered(path)).map((path) => pathMatches(path, stage));
  return { orStatement: { statements } };
};

type FirewallConfig = Pick<Config, 'stage' | 'otpAccess' | 'openRoutes' | 'keyPrefix'> &
  NonNullable<Config['firewall']>;

/** Matches a request of an operation that requires a key, with an `X-Api-Key` that is present and has not the form of a key. */
const malformedKeys = ({ stage, otpAccess, keyPrefix }: FirewallConfig): CfnWebACL.StatementProperty => {
  const header = {
    fieldToMatch: { singleHeader: { Name: 'x-api-key' } },
    textTransformations: [{ priority: 0, type: 'NONE' }],
  };
  const isPresent = { sizeConstraintStatement: { ...header, comparisonOperator: 'GE', size: 1 } };
  const isWellFormed = { regexMatchStatement: { ...header, regexString: keyForm(keyPrefix) } };
  return {
    andStatement: {
      statements: [
        rowsThat((row) => requiresKey(row, otpAccess), stage),
        isPresent,
        { notStatement: { statement: isWellFormed } },
      ],
    },
  };
};

/** Counts each path of an address by itself, whatever its form. */
const BY_ADDRESS_AND_PATH = {
  aggregateKeyType: 'CUSTOM_KEYS',
  customKeys: [{ ip: {} }, { uriPath: { textTransformations: PLAIN_PATH.textTransformations } }],
};

interface AddressLimit extends Partial<typeof BY_ADDRESS_AND_PATH> {
  readonly limit: number;
  readonly evaluationWindowSec: number;
  /** Counts only the requests that match; every request by default. */
  readonly scopeDownStatement?: CfnWebACL.StatementProperty;
}

/** The limits of requests of an address by the name of the metric. */
const limitsOf = (config: FirewallConfig): Readonly<Record<string, AddressLimit>> => ({
  RequestsPerAddress: { limit: config.requestsPerAddress, evaluationWindowSec: WINDOW_SECONDS },
  OpenRequestsPerAddress: {
    // 12 at least, since AWS accepts no limit below 10.
    limit: Math.floor(config.openRoutes.requestsPerSecond * WINDOW_SECONDS * SHARE_OF_OPEN_ROUTES),
    evaluationWindowSec: WINDOW_SECONDS,
    // Without the documentation site: a first visit loads dozens of its files.
    scopeDownStatement: rowsThat(
      (row) => !requiresKey(row, config.otpAccess) && !row.permissions.site,
      config.stage,
    ),
  },
  ...(config.otpAccess === 'public' && {
    OneTimeCodesPerAddress: {
      ...BY_ADDRESS_AND_PATH,
      limit: config.codesPerAddress,
      evaluationWindowSec: CODES_WINDOW_SECONDS,
      scopeDownStatement: rowsThat(({ access }) => access.by === 'otp', config.stage),
    },
  }),
});

/** Returns what the firewall blocks, by the name of the metric. */
const blockedBy = (config: FirewallConfig): Readonly<Record<string, CfnWebACL.StatementProperty>> => ({
  ...Object.fromEntries(
    Object.entries(limitsOf(config)).map(([metricName, limit]) => [
      metricName,
      { rateBasedStatement: { aggregateKeyType: 'IP', ...limit } },
    ]),
  ),
  ...(config.blockMalformedKeys && { MalformedKeys: malformedKeys(config) }),
});

/**
 * Adds a web firewall with limits of requests for each client address: for all of them, and for those that require no key, of which one
 * address may use a fifth, so that others can read the public keys. Where the one-time-code operations require no key, they have a limit
 * of their own. During a flood of malformed keys it blocks these.
 */
export const addFirewall = (scope: Construct, stage: Stage, config: FirewallConfig): void => {
  const firewall = new CfnWebACL(scope, 'Firewall', {
    scope: 'REGIONAL',
    defaultAction: { allow: {} },
    visibilityConfig: visibility(firewallMetricName(config.stage)),
    rules: Object.entries(blockedBy(config)).map(([metricName, statement], priority) => ({
      // RequestsPerAddress: requests-per-address.
      name: metricName.replaceAll(/(?!^)[A-Z]/g, '-$&').toLowerCase(),
      priority,
      action: { block: {} },
      statement,
      visibilityConfig: visibility(metricName),
    })),
  });
  new CfnWebACLAssociation(scope, 'FirewallAssociation', {
    resourceArn: stage.stageArn,
    webAclArn: firewall.attrArn,
  });
};
