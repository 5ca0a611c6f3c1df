import { type Config, ConfigError, parseConfig } from './config.ts';

/** The config of each stage. To add a stage, add an entry; lib/config.ts describes the options. */
export const STAGES = {
  dev: {
    account: null,
    region: null,
    leftUnset: null,
    sharedAccount: null,
    keyPrefix: 'blk_test_',
    otpAccess: 'api-key',
    removal: 'destroy',
    pointInTimeRecoveryDays: 35,
    encryption: 'aws-owned-keys',
    hashSecretReplica: null,
    permissionsBoundary: null,
    tags: null,
    logRetentionDays: 14,
    tableTrail: false,
    alarms: null,
    minorAlarms: null,
    runbookUrl: null,
    providers: {
      // Test people and phones only: docs/test-identities.md, "Sandbox".
      identityRegistry: ['sandbox'],
      sms: ['sandbox'],
      secretName: 'buyer-linking/dev/providers',
    },
    staticEgress: false,
    firewall: null,
    openRoutes: { requestsPerSecond: 20, burst: 40 },
    keyedRoutes: { requestsPerSecond: 100, burst: 200 },
    spend: { paidChecksPerDay: null, smsPerDay: null },
    budget: null,
    // A new account may run 10 functions at a time and can reserve none of them.
    reservedConcurrency: null,
    rollout: 'all-at-once',
    domain: null,
    signingKeys: ['k1'],
    retiredSigningKeys: null,
    canary: true,
    completionWatch: false,
  },
  prod: {
    // Set both: then no deploy of prod can reach another account or Region.
    account: null,
    region: null,
    leftUnset: null,
    sharedAccount: null,
    keyPrefix: 'blk_live_',
    otpAccess: 'api-key',
    removal: 'retain',
    pointInTimeRecoveryDays: 35,
    encryption: 'aws-owned-keys',
    hashSecretReplica: null,
    permissionsBoundary: null,
    tags: null,
    logRetentionDays: 365,
    tableTrail: false,
    // Set { email: '…' } or { topicArn: '…' }.
    alarms: null,
    minorAlarms: null,
    runbookUrl: null,
    providers: {
      identityRegistry: ['jibit', 'zohal'],
      sms: ['kavenegar', 'sms-ir'],
      secretName: 'buyer-linking/prod/providers',
    },
    staticEgress: true,
    // Six keys of the professional plan may send their full rate from one address.
    firewall: { requestsPerAddress: 30_000, codesPerAddress: 100 },
    openRoutes: { requestsPerSecond: 100, burst: 200 },
    // Six operations at this limit leave 4,000 of the 10,000 requests a second of an account to others.
    keyedRoutes: { requestsPerSecond: 1000, burst: 1000 },
    spend: { paidChecksPerDay: null, smsPerDay: null },
    budget: null,
    // Links wait for the registries; these numbers keep them from using the concurrency that sign-in needs. The account needs 1,000.
    reservedConcurrency: { authorizer: 100, 'create-user': 300, 'send-otp': 100, 'verify-otp': 100 },
    rollout: 'gradual',
    domain: null,
    signingKeys: ['k1'],
    retiredSigningKeys: null,
    canary: true,
    completionWatch: true,
  },
} as const satisfies Record<string, Omit<Config, 'stage'>>;

/** The name of a stage of this file. */
export type StageName = keyof typeof STAGES;

/** The names of all stages. */
export const STAGE_NAMES = Object.keys(STAGES) as readonly StageName[];

/** Distinguishes the options of this app from the context of CDK and its plugins, whose names have a colon or a slash. */
const isOption = (name: string): boolean => /^\w+$/.test(name) && name !== 'stage';

/** Parses an option of the command line, which is always text, as JSON; text that is not JSON stays text, and so does an account. */
const parsedOption = (value: unknown): unknown => {
  if (typeof value !== 'string' || /^\d{12}$/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

const isStage = (name: unknown): name is StageName => typeof name === 'string' && Object.hasOwn(STAGES, name);

/**
 * Returns the config of a stage: its entry, in which `changes`, the options of the command line, replace those of the file. Throws
 * ConfigError.
 */
export const configOf = (stage: unknown, changes: Readonly<Record<string, unknown>> = {}): Config => {
  if (!isStage(stage)) {
    throw new ConfigError(
      `There is no stage "${stage}". The stages of lib/stages.ts are ${STAGE_NAMES.join(' and ')}.`,
    );
  }
  const replaced = Object.entries(changes).filter(([name]) => isOption(name));
  return parseConfig(stage, {
    ...STAGES[stage],
    ...Object.fromEntries(replaced.map(([name, value]) => [name, parsedOption(value)])),
  });
};

/**
 * Returns the configs that the context of CDK selects: of `-c stage=<name>`, in which the other options of the context replace those of
 * the file, or of every stage. With `-c direct=true` a gradual rollout is skipped. Throws ConfigError, also for an option without a stage.
 */
export const configsOf = ({
  stage,
  direct,
  ...context
}: Readonly<Record<string, unknown>>): readonly Config[] => {
  if (stage !== undefined) {
    const config = configOf(stage, context);
    return [direct !== undefined && config.rollout === 'gradual' ? { ...config, rollout: 'direct' } : config];
  }
  const option = Object.keys(context).find(isOption);
  if (option !== undefined) {
    throw new ConfigError(`Name the stage whose option -c ${option} replaces: -c stage=${STAGE_NAMES[0]}.`);
  }
  return STAGE_NAMES.map((name) => configOf(name));
};
