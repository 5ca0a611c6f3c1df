import type { Stage } from 'aws-cdk-lib/aws-apigateway';
import { CfnWebACL, CfnWebACLAssociation } from 'aws-cdk-lib/aws-wafv2';
import type { Construct } from 'constructs';
import { keyForm } from '#shared/api-keys/secret.ts';
import { type Route, requiresKey } from '#shared/route.ts';
import { allRoutes } from '#shared/routes.ts';
import type { Config } from './config.ts';
import { SITE_THROTTLE } from './rest-api.ts';

/** The window in which the firewall counts the requests of an address, in seconds. The shortest one of AWS: a throttle is used up within seconds. */
const WINDOW_SECONDS = 60;

/** The window for one-time codes: a buyer sends several of these requests within minutes. */
const CODES_WINDOW_SECONDS = 300;

/** The share of the throttle of an open route that one address may use. */
const SHARE_OF_OPEN_ROUTES = 1 / 5;

/** The share of the throttle of a path of the documentation site: a first visit loads about twenty files within seconds. */
const SHARE_OF_SITE = 1 / 4;

/** Returns the name of the firewall in its metrics. Names of metrics are shared by the stages of an account and Region. */
export const firewallMetricName = (stage: string): string => `BuyerLinking-${stage}`;

const visibility = (metricName: string) => ({
  metricName,
  cloudWatchMetricsEnabled: true,
  // Samples hold request headers, and these hold API keys.
  sampledRequestsEnabled: false,
});

/** API Gateway routes an encoded path as its plain form, so a rule must see it plain too. */
const DECODED = [{ priority: 0, type: 'URL_DECODE' }];

/**
 * The forms of a path in which a rule looks. In the decoded one too: API Gateway passes `..%2F` on as the value of a path parameter, so
 * `/docs/..%2F` is a path of the site, of which the normalized form leaves `/`.
 */
const FORMS = [DECODED, [...DECODED, { priority: 1, type: 'NORMALIZE_PATH' }]];

/** Match a path of the API and what begins with it. The default endpoint puts the stage's name before the path, a custom domain does not. */
const matchesOf = (path: string): readonly CfnWebACL.StatementProperty[] =>
  FORMS.map((textTransformations) => ({
    byteMatchStatement: {
      fieldToMatch: { uriPath: {} },
      textTransformations,
      positionalConstraint: 'CONTAINS',
      searchString: path,
    },
  }));

/** Matches each row that a condition holds for, by the part of its path before a parameter, and not by its other paths. */
const rowsThat = (isMatch: (row: Route) => boolean): CfnWebACL.StatementProperty => {
  const paths = [...new Set(allRoutes.filter(isMatch).map(({ path }) => path.replace(/\/\{.*$/, '')))];
  if (paths.length === 0) throw new Error('a rule of the firewall matches no row');
  const covered = (path: string) => paths.some((other) => path.startsWith(`${other}/`));
  return { orStatement: { statements: paths.filter((path) => !covered(path)).flatMap(matchesOf) } };
};

type FirewallConfig = Pick<Config, 'stage' | 'otpAccess' | 'openRoutes' | 'keyPrefix'> &
  NonNullable<Config['firewall']>;

/** Matches a request of an operation that requires a key, with an `X-Api-Key` that is present and has not the form of a key. */
const malformedKeys = ({ otpAccess, keyPrefix }: FirewallConfig): CfnWebACL.StatementProperty => {
  const header = {
    fieldToMatch: { singleHeader: { Name: 'x-api-key' } },
    textTransformations: [{ priority: 0, type: 'NONE' }],
  };
  const isPresent = { sizeConstraintStatement: { ...header, comparisonOperator: 'GE', size: 1 } };
  const isWellFormed = { regexMatchStatement: { ...header, regexString: keyForm(keyPrefix) } };
  return {
    andStatement: {
      statements: [
        rowsThat((row) => requiresKey(row, otpAccess)),
        isPresent,
        { notStatement: { statement: isWellFormed } },
      ],
    },
  };
};

interface AddressLimit {
  readonly limit: number;
  readonly evaluationWindowSec: number;
  /** Counts only the requests that match; every request by default. */
  readonly scopeDownStatement?: CfnWebACL.StatementProperty;
}

/**
 * One limit for each one-time-code operation. It counts by the address alone: API Gateway serves four forms of a path, with and without the
 * stage's name and a slash at its end, and a count of each path would let an address through four times.
 */
const codesLimits = ({ codesPerAddress }: FirewallConfig): Readonly<Record<string, AddressLimit>> =>
  Object.fromEntries(
    allRoutes
      .filter(({ access }) => access.by === 'otp')
      .map(({ name }) => [
        // send-otp: SendOtpPerAddress.
        `${name.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase())}PerAddress`,
        {
          limit: codesPerAddress,
          evaluationWindowSec: CODES_WINDOW_SECONDS,
          scopeDownStatement: rowsThat((row) => row.name === name),
        },
      ]),
  );

/** The limits of requests of an address by the name of the metric. */
const limitsOf = (config: FirewallConfig): Readonly<Record<string, AddressLimit>> => ({
  RequestsPerAddress: { limit: config.requestsPerAddress, evaluationWindowSec: WINDOW_SECONDS },
  OpenRequestsPerAddress: {
    // 12 at least, since AWS accepts no limit below 10.
    limit: Math.floor(config.openRoutes.requestsPerSecond * WINDOW_SECONDS * SHARE_OF_OPEN_ROUTES),
    evaluationWindowSec: WINDOW_SECONDS,
    scopeDownStatement: rowsThat((row) => !requiresKey(row, config.otpAccess) && !row.permissions.site),
  },
  // Without `/`, which leads to /docs by a response without a body.
  DocsPerAddress: {
    limit: SITE_THROTTLE.requestsPerSecond * WINDOW_SECONDS * SHARE_OF_SITE,
    evaluationWindowSec: WINDOW_SECONDS,
    scopeDownStatement: rowsThat((row) => row.permissions.site === true),
  },
  ...(config.otpAccess === 'public' && codesLimits(config)),
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
 * Adds a web firewall with limits of requests for each client address: for all of them, for those that require no key, of which one
 * address may use a fifth, so that others can read the public keys, and for the documentation site. Where the one-time-code operations
 * require no key, each has a limit of its own. During a flood of malformed keys it blocks these.
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
