import type { App } from 'aws-cdk-lib';
import { type Config, ConfigError, parseConfig } from './config.ts';

/** The stages, whole and side by side. Another stage is another entry here; lib/config.ts says what each option means. */
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
    domain: null,
    signingKeys: ['k1'],
    canary: false,
  },
  prod: {
    keyPrefix: 'blk_live_',
    otpAccess: 'api-key',
    removal: 'retain',
    restoredTable: null,
    logRetentionDays: 365,
    // Yours to set: { email: '…' } or { topicArn: '…' }. Until then synth warns that nobody is told.
    alarms: null,
    providers: {
      identityRegistry: ['jibit', 'zohal'],
      sms: ['kavenegar', 'sms-ir'],
      secretName: 'buyer-linking/prod/providers',
    },
    staticEgress: true,
    // Six keys of the professional plan at full rate from one address.
    firewall: { requestsPerAddress: 30_000 },
    openRoutes: { requestsPerSecond: 100, burst: 200 },
    domain: null,
    signingKeys: ['k1'],
    canary: true,
  },
} as const satisfies Record<string, Omit<Config, 'stage' | 'alarms'> & { readonly alarms: Config['alarms'] }>;

const DEFAULT_STAGE = 'dev';

/** Context of CDK and its plugins carries a colon or a slash in its name; a bare word on the command line is meant for us. */
const isOption = (name: string): boolean => /^\w+$/.test(name) && name !== 'stage';

/** `-c canary=true` arrives as text; JSON is read as what it says, anything else stays text. */
const meant = (given: unknown): unknown => {
  if (typeof given !== 'string') return given;
  try {
    return JSON.parse(given);
  } catch {
    return given;
  }
};

/**
 * The config that `cdk synth|diff|deploy -c stage=<name>` means: the stage's entry, with any option given on the command line
 * (`-c otpAccess=public`) in its place. Throws ConfigError.
 */
export const configOf = (app: App): Config => {
  const stage: unknown = app.node.tryGetContext('stage') ?? DEFAULT_STAGE;
  if (typeof stage !== 'string' || !Object.hasOwn(STAGES, stage)) {
    throw new ConfigError(String(stage), [
      `option "stage" must be one of ${Object.keys(STAGES).join(', ')}: the entries of lib/stages.ts.`,
    ]);
  }
  const given = Object.entries(app.node.getAllContext() as Record<string, unknown>).filter(([name]) =>
    isOption(name),
  );
  const overrides = Object.fromEntries(given.map(([name, value]) => [name, meant(value)]));
  return parseConfig(stage, { ...STAGES[stage as keyof typeof STAGES], ...overrides });
};
