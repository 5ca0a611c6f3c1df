import type { RetentionDays } from 'aws-cdk-lib/aws-logs';
import type { OtpAccess } from '#shared/env.ts';
import type { FunctionName } from '#shared/routes.ts';

interface Throttle {
  readonly requestsPerSecond: number;
  readonly burst: number;
}

interface BackupCopy {
  readonly vaultArn: `arn:${string}:backup:${string}:${string}:backup-vault:${string}`;
  readonly every: 'day' | 'week';
  readonly keepDays: number;
}

interface AlarmThresholds {
  /** 5xx responses that no function explains. */
  readonly unexplainedErrors: number;
  /** In an hour, `internal` responses. */
  readonly internalErrors: number;
  /** Calls to the table, KMS or Secrets Manager that got no answer. */
  readonly callsWithoutAnswer: number;
  /** In 15 minutes, calls that no provider of a port answered, or not the first one, if they are also a fifth of its calls. */
  readonly portCalls: number;
  /** In 15 minutes, codes sent through a provider, from which on the share that buyers redeem counts. */
  readonly codesSent: number;
  /** Verifications with a wrong code. */
  readonly codesRejected: number;
  /** Requests that the firewall blocks. */
  readonly requestsBlocked: number;
}

/** The settings of a stage. None has a default, so that two stages can be compared line by line; null is off. */
export interface Stage {
  /** The AWS account: credentials of another one are refused. null: that of the credentials. Set it before the first deploy: docs/operators/deploy.md. */
  readonly account: string | null;
  /** The Region. null: that of the credentials. Set it before the first deploy, as `account`. */
  readonly region: string | null;
  /** `live`: real buyers and providers, keys `blk_live_…`; a deploy requires it to be complete. `test`: keys `blk_test_…`. */
  readonly keys: 'live' | 'test';
  /** With live keys only. true: another stage may be in its account. Whoever deploys one stage of an account can change every stage in it. */
  readonly sharesAccount: boolean;
  /** `public`: the one-time-code operations require no key. Requires `firewall` and `spend.smsPerDay`. */
  readonly otpAccess: OtpAccess;
  /** What a deleted stack does with its table, keys, secrets and logs. `retain` also turns on deletion protection; live keys require it. */
  readonly removal: 'retain' | 'destroy';
  /** A restored table that takes the place of the stack's own: docs/operators/operations.md, "Restore the table". null: the stack's own. */
  readonly table: string | null;
  /**
   * A daily or weekly backup of the table, which AWS Backup copies to a vault in another Region or account and keeps there. It needs preparation, and
   * costs a KMS key, its storage and the transfer: docs/operators/deploy.md, "A copy of the table". null: not set, so prod cannot be deployed.
   */
  readonly backupCopy: BackupCopy | 'none' | null;
  /** `customer-managed-key`: a KMS key of the stage encrypts the table, the secrets of the stack and the logs. Give it to the provider secret too. */
  readonly encryption: 'aws-owned-keys' | 'customer-managed-key';
  /** A second Region that keeps a copy of the hash secret, for 0.40 USD a month: docs/operators/operations.md, "Disaster recovery". */
  readonly hashSecretReplica: string | null;
  /** More tags for every resource. The project itself sets service and stage. */
  readonly tags: Readonly<Record<string, string>>;
  /** The days for which CloudWatch keeps the logs. */
  readonly logRetentionDays: RetentionDays;
  /** The receiver of alarms and of their ends: an address, or a topic of your own (docs/operators/deploy.md). null: no alarms and no canary. */
  readonly alarms:
    | { readonly email: `${string}@${string}` }
    | { readonly topicArn: `arn:${string}:sns:${string}` }
    | null;
  /** The numbers from which on alarms are raised, in five minutes if nothing else is said. They depend on the traffic of the stage. */
  readonly alarmThresholds: AlarmThresholds;
  /** The providers of each port, the first choice first, and the secret with their credentials. `sandbox`: test identities only, no secret. */
  readonly providers: {
    readonly identityRegistry: readonly string[];
    readonly sms: readonly string[];
    readonly secretName: string;
  };
  /**
   * Fixed addresses for providers to allow (output EgressAddress), through one NAT gateway for about 37 USD a month, or one in each of two
   * zones for about 73: then links and codes go on while a zone is lost. null until a provider asks for an address. Do not set it back to
   * null: the functions lose the network permissions by which Lambda removes their interfaces, so that the deploy hangs in its cleanup, and the
   * address changes.
   *
   * `zones`: two zones of the Region, such as ['us-east-1a', 'us-east-1b'], named before the first deploy. `first-two`: the first two that AWS lists. One
   * of them can be a zone without Lambda ("contain availability zone Lambda doesn't support"), in us-east-1 for example.
   */
  readonly staticEgress: {
    readonly natGateways: 'one' | 'one-in-each-zone';
    readonly zones: 'first-two' | readonly [string, string];
  } | null;
  /**
   * A web firewall. `requestsPerAddress`: requests of an address in a minute, in which plans count too. `codesPerAddress`: with otpAccess `public`,
   * requests of an address in 5 minutes to each of the two operations of one-time codes; a mobile operator sends thousands of phones through one
   * address. `blockMalformedKeys`, during a flood of them, blocks each `X-Api-Key` that has not the form of a key of the stage: 429 in place of 401.
   * docs/operators/operations.md, "A flood of malformed keys".
   */
  readonly firewall: {
    readonly requestsPerAddress: number;
    readonly codesPerAddress: number;
    readonly blockMalformedKeys: boolean;
  } | null;
  /**
   * The throttle of each operation that requires no key, but for the documentation site; a tenth of it for HEAD. With a firewall, one address
   * may use a fifth of it.
   */
  readonly openRoutes: Throttle;
  /** The throttle of each operation that requires a key, over all keys, unknown ones too. */
  readonly keyedRoutes: Throttle;
  /**
   * Daily ceilings of the stage on what costs money, over all keys, with an alarm at 80 %: docs/sellers/limits.md. A paid check is two calls of a
   * registry, and up to eight if attempts are repeated and the next registry is called.
   */
  readonly spend: { readonly paidChecksPerDay: number | null; readonly smsPerDay: number | null };
  /**
   * Whom sellers ask, and where they see the state of the service: in the foot of each page and in `info.contact` of the OpenAPI document. Where
   * buyers register, in the foot; with null sellers ask for it.
   */
  readonly support: {
    readonly email: `${string}@${string}`;
    readonly statusUrl: `https://${string}` | null;
    readonly buyerAppUrl: `https://${string}` | null;
  } | null;
  /**
   * The concurrency that is kept for a function and is its limit, by function; the others share the rest of `accountQuota`, "Concurrent
   * executions" of the account under Service Quotas, of which they must have 200.
   */
  readonly reservedConcurrency: {
    readonly accountQuota: number;
    readonly functions: { readonly [Name in FunctionName]?: number };
  } | null;
  /** A custom domain, its certificate in the same Region. `closed`: the domain is the only address. docs/operators/deploy.md, "Custom domain". */
  readonly domain: {
    readonly name: string;
    readonly certificateArn: string;
    readonly defaultEndpoint: 'open' | 'closed';
  } | null;
  /** The issuers (`iss`) of access tokens: the first is written into tokens, all are accepted. docs/operators/deploy.md, "Custom domain". */
  readonly issuers:
    | readonly ['default-endpoint']
    | readonly ['default-endpoint', 'domain']
    | readonly ['domain', 'default-endpoint']
    | readonly ['domain'];
  /** Labels of the signing keys: the first key signs, all are published. docs/operators/operations.md, "Rotate the signing key". */
  readonly signingKeys: readonly string[];
  /** Labels that left `signingKeys` with this deploy: versions in service still use these keys. */
  readonly retiredSigningKeys: readonly string[];
}

/** For up to some 1,000 requests a minute. With more: `{ ...FIRST_THRESHOLDS, codesRejected: 500 }`. */
const FIRST_THRESHOLDS: AlarmThresholds = {
  unexplainedErrors: 5,
  internalErrors: 3,
  callsWithoutAnswer: 5,
  portCalls: 5,
  codesSent: 10,
  codesRejected: 100,
  requestsBlocked: 1000,
};

/** The stages. To add one, add an entry. */
export const STAGES = {
  dev: {
    account: null,
    region: null,
    keys: 'test',
    sharesAccount: false,
    otpAccess: 'api-key',
    removal: 'destroy',
    table: null,
    backupCopy: 'none',
    encryption: 'aws-owned-keys',
    hashSecretReplica: null,
    tags: {},
    logRetentionDays: 14,
    alarms: null,
    alarmThresholds: FIRST_THRESHOLDS,
    providers: {
      identityRegistry: ['sandbox'],
      sms: ['sandbox'],
      secretName: 'buyer-linking/dev/providers',
    },
    staticEgress: null,
    firewall: null,
    openRoutes: { requestsPerSecond: 20, burst: 40 },
    keyedRoutes: { requestsPerSecond: 100, burst: 200 },
    spend: { paidChecksPerDay: null, smsPerDay: null },
    support: null,
    // A new account may run 10 functions at a time and can reserve none of them.
    reservedConcurrency: null,
    domain: null,
    issuers: ['default-endpoint'],
    signingKeys: ['k1'],
    retiredSigningKeys: [],
  },
  prod: {
    account: null, // Set '123456789012', the account of prod alone.
    region: null, // Set 'eu-central-1', or another one.
    keys: 'live',
    sharesAccount: false,
    otpAccess: 'api-key',
    removal: 'retain',
    table: null,
    backupCopy: null, // Set { vaultArn: 'arn:aws:backup:…', every: 'day', keepDays: 35 }, or 'none'.
    encryption: 'aws-owned-keys',
    hashSecretReplica: null,
    tags: {},
    logRetentionDays: 365,
    alarms: null, // Set { email: 'on-call@your-company.com' }, or { topicArn: 'arn:aws:sns:…' }.
    alarmThresholds: FIRST_THRESHOLDS,
    providers: {
      identityRegistry: ['jibit', 'zohal'],
      sms: ['kavenegar', 'sms-ir'],
      secretName: 'buyer-linking/prod/providers',
    },
    staticEgress: null, // Set { natGateways: 'one', zones: 'first-two' } when a provider asks for an address to allow.
    // An address may use a fifth of keyedRoutes: three keys of the professional plan may send their full rate from it.
    firewall: { requestsPerAddress: 3600, codesPerAddress: 1000, blockMalformedKeys: false },
    // Verifiers keep the public keys for five minutes: enough for 15,000 of them.
    openRoutes: { requestsPerSecond: 50, burst: 100 },
    // Six operations at this limit leave a tenth of the authorizer to the others: its 200 units decide 2,000 times a second. Wrong keys are not in
    // its cache, so it takes 34 addresses to use it up.
    keyedRoutes: { requestsPerSecond: 300, burst: 300 },
    spend: { paidChecksPerDay: null, smsPerDay: null }, // Set { paidChecksPerDay: 5000, smsPerDay: 10_000 }, or one of them.
    support: null, // Set { email: 'api@your-company.com', statusUrl: 'https://status.your-company.com', buyerAppUrl: null }.
    // Links and checks wait for the registries, corrections and removals for each other: these numbers bound them, so that reads have 219. Sign-in
    // and the authorizer have what they need in any case. docs/operators/scaling.md has the arithmetic.
    reservedConcurrency: {
      accountQuota: 1000,
      functions: {
        authorizer: 200,
        'create-user': 200,
        'check-user': 60,
        'update-user': 80,
        'delete-user': 80,
        'send-otp': 100,
        'verify-otp': 60,
      },
    },
    domain: null,
    issuers: ['default-endpoint'],
    signingKeys: ['k1'],
    retiredSigningKeys: [],
  },
} as const satisfies Readonly<Record<string, Stage>>;

export type StageName = keyof typeof STAGES;

export const STAGE_NAMES = Object.keys(STAGES) as readonly StageName[];
