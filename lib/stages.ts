import type { App } from 'aws-cdk-lib';
import { type Config, ConfigError, parseConfig } from './config.ts';

/** The config of each stage. To add a stage, add an entry; lib/config.ts describes the options. */
export const STAGES = {
  dev: {
    keyPrefix: 'blk_test_',
    otpAccess: 'api-key',
    removal: 'destroy',
    restoredTable: null,
    logRetentionDays: 14,
    alarms: null,
    providers: {
      identityRegistry: ['jibit', 'zohal'],
      sms: ['kavenegar', 'sms-ir'],
      secretName: 'buyer-linking/dev/providers',
    },
    staticEgress: false,
    firewall: null,
    openRoutes: { requestsPerSecond: 20, burst: 40 },
    spend: { paidChecksPerDay: null, smsPerDay: null },
    // A new account may run 10 functions at a time and can reserve none of them.
    reservedConcurrency: null,
    domain: null,
    signingKeys: ['k1'],
    canary: false,
    completionWatch: false,
  },
  prod: {
    keyPrefix: 'blk_live_',
    otpAccess: 'api-key',
    removal: 'retain',
    restoredTable: null,
    logRetentionDays: 365,
    // Set { email: '…' } or { topicArn: '…' }. With null, synth warns that the alarms have no receiver.
    alarms: null,
    providers: {
      identityRegistry: ['jibit', 'zohal'],
      sms: ['kavenegar', 'sms-ir'],
      secretName: 'buyer-linking/prod/providers',
    },
    staticEgress: true,
    // Six keys of the professional plan may send their full rate from one address.
    firewall: { requestsPerAddress: 30_000 },
    openRoutes: { requestsPerSecond: 100, burst: 200 },
    spend: { paidChecksPerDay: null, smsPerDay: null },
    // Links wait for the registries; these numbers keep them from using the concurrency that sign-in needs. The account needs 1,000.
    reservedConcurrency: { authorizer: 100, 'create-user': 300, 'send-otp': 100, 'verify-otp': 100 },
    domain: null,
    signingKeys: ['k1'],
    canary: true,
    completionWatch: true,
  },
} as const satisfies Record<string, Omit<Config, 'stage' | 'alarms'> & { readonly alarms: Config['alarms'] }>;

const DEFAULT_STAGE = 'dev';

/** Distinguishes the options of this app from the context of CDK and its plugins, whose names have a colon or a slash. */
const isOption = (name: string): boolean => /^\w+$/.test(name) && name !== 'stage';

/** Parses an option of the command line, which is always text, as JSON; text that is not JSON stays text. */
const parsedOption = (value: unknown): unknown => {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
};

/**
 * Returns the config for `cdk synth|diff|deploy -c stage=<name>`: the stage's entry, in which options of the command line
 * (`-c canary=true`) replace those of the file. The default stage is dev. Throws ConfigError.
 */
export const configOf = (app: App): Config => {
  const stage: unknown = app.node.tryGetContext('stage') ?? DEFAULT_STAGE;
  if (typeof stage !== 'string' || !Object.hasOwn(STAGES, stage)) {
    throw new ConfigError(String(stage), [
      `option "stage" must be one of ${Object.keys(STAGES).join(', ')}: the entries of lib/stages.ts.`,
    ]);
  }
  const context = Object.entries(app.node.getAllContext() as Record<string, unknown>);
  const overrides = Object.fromEntries(
    context.filter(([name]) => isOption(name)).map(([name, value]) => [name, parsedOption(value)]),
  );
  return parseConfig(stage, { ...STAGES[stage as keyof typeof STAGES], ...overrides });
};
