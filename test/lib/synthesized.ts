import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { addStage } from '#lib/app.ts';
import type { Bundles } from '#lib/bundling.ts';
import { type Config, parseConfig } from '#lib/config.ts';
import type { Release } from '#lib/release.ts';
import { STAGES, type Stage, type StageName } from '#lib/stages.ts';
import cdkJson from '../../cdk.json' with { type: 'json' };

/** Holds everything that a test file synthesizes, until the file ends. */
const folder = mkdtempSync(join(tmpdir(), 'buyer-linking-templates-'));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns an empty folder instead of each bundle: the templates do not depend on the code. */
const emptyBundles: Bundles = {
  folderOf(name) {
    mkdirSync(join(folder, name), { recursive: true });
    return join(folder, name);
  },
};

/** A fixed release, so that the templates do not depend on the checkout. */
export const RELEASE: Release = { version: '1.2.3', commit: '0123456789ab' };

/** The context of cdk.json, which the CDK CLI would pass to the app. */
const context: Record<string, unknown> = cdkJson.context;

/** Returns the config of a stage with some settings replaced. */
export const stageConfig = (stage: StageName, changes: Partial<Stage> = {}): Config =>
  parseConfig(stage, { ...STAGES[stage], ...changes });

/** What prod must set, except its account and Region. */
export const COMPLETE = {
  alarms: { email: 'on-call@example.com' },
  spend: { paidChecksPerDay: 5000, smsPerDay: 10_000 },
  support: {
    email: 'api@example.com',
    statusUrl: 'https://status.example.com',
    buyerAppUrl: 'https://buyers.example.com',
  },
  backupCopy: 'none',
} as const satisfies Partial<Stage>;

/** What adds something to the templates of prod besides. Without `otpAccess: 'public'`, in which some operations do not exist. */
export const EVERY_OPTION = {
  ...COMPLETE,
  encryption: 'customer-managed-key',
  tags: { 'cost-center': 'payments' },
  domain: {
    name: 'api.example.com',
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0',
    defaultEndpoint: 'closed',
  },
  issuers: ['domain'],
  firewall: { ...STAGES.prod.firewall, blockMalformedKeys: true },
  staticEgress: { natGateways: 'one', zones: 'first-two' },
  backupCopy: {
    vaultArn: 'arn:aws:backup:eu-west-1:444455556666:backup-vault:buyer-linking',
    every: 'day',
    keepDays: 35,
  },
  hashSecretReplica: 'eu-west-1',
  signingKeys: ['k2', 'k1'],
  retiredSigningKeys: ['k0'],
} as const satisfies Partial<Stage>;

/** The other value of settings of prod that EVERY_OPTION sets too, with the keys and the encryption of prod. */
export const OTHER_OPTIONS = {
  ...EVERY_OPTION,
  encryption: STAGES.prod.encryption,
  signingKeys: STAGES.prod.signingKeys,
  retiredSigningKeys: STAGES.prod.retiredSigningKeys,
  otpAccess: 'public',
  domain: { ...EVERY_OPTION.domain, defaultEndpoint: 'open' },
  issuers: ['default-endpoint', 'domain'],
  firewall: { ...STAGES.prod.firewall, codesPerAddress: 50, blockMalformedKeys: true },
  providers: { ...STAGES.prod.providers, sms: ['kavenegar'] },
  staticEgress: { natGateways: 'one-in-each-zone', zones: 'first-two' },
} as const satisfies Partial<Stage>;

/** On a restored table. */
export const ON_RESTORED_TABLE = {
  ...EVERY_OPTION,
  table: 'buyer-linking-prod-restored',
  issuers: ['domain', 'default-endpoint'],
  backupCopy: { ...EVERY_OPTION.backupCopy, every: 'week', keepDays: 90 },
} as const satisfies Partial<Stage>;

/** Settings of dev with a receiver of alarms and named zones. */
export const WATCHED_DEV = {
  alarms: { topicArn: 'arn:aws:sns:eu-central-1:123456789012:on-call' },
  staticEgress: { natGateways: 'one', zones: ['us-east-1a', 'us-east-1c'] },
} as const satisfies Partial<Stage>;

/** Has no rules of cdk-nag, which take a fifth of a synth: test/lib/stage-rules.ts applies them to each kind of stage. */
class UncheckedApp extends App {
  _addValidationPlugins() {}
}

interface AppOptions {
  readonly hasValidation?: boolean;
  readonly faults?: readonly string[];
  readonly release?: Release;
  readonly Base?: typeof App;
}

/**
 * Returns the app of a stage, not yet synthesized. `hasValidation` turns on the template rules of CloudFormation, which take seconds
 * and need to run in one test file only.
 */
export const stageApp = (
  config: Config,
  { hasValidation = false, faults = [], release = RELEASE, Base = App }: AppOptions = {},
) => {
  const app = new Base({
    context,
    outdir: mkdtempSync(join(folder, 'cdk-')),
    builtinCloudFormationValidation: hasValidation,
    treeMetadata: false,
  });
  return { app, ...addStage(app, config, { bundles: emptyBundles, release }, faults) };
};

const TEMPLATES = Symbol.for('buyer-linking templates');
/** The test files of a worker share what it synthesized: as JSON, since a test may change its copy. */
const worker = globalThis as { [TEMPLATES]?: Map<string, string> };
worker[TEMPLATES] ??= new Map();
const synthesized = worker[TEMPLATES];

/** Synthesizes a stage, whether or not another test has done so. Returns its templates as JSON. */
export const synthesize = (config: Config, release = RELEASE) => {
  const { stackTraceLimit } = Error;
  // CDK keeps the stack trace of each construct: another fifth.
  Error.stackTraceLimit = 0;
  try {
    const { api, data } = stageApp(config, { release, Base: UncheckedApp });
    return { api: Template.fromStack(api).toJSON(), data: Template.fromStack(data).toJSON() };
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
};

/** Returns the templates of a stage. The test files use few settings, each synthesized once in a worker. */
export const templatesOf = (stage: StageName, changes: Partial<Stage> = {}) => {
  const config = stageConfig(stage, changes);
  const key = JSON.stringify(config);
  if (!synthesized.has(key)) {
    synthesized.set(key, JSON.stringify(synthesize(config)));
  }
  const { api, data } = JSON.parse(synthesized.get(key) ?? '');
  return { api: Template.fromJSON(api), data: Template.fromJSON(data) };
};

interface Resource {
  readonly Type: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests read JSON of any form
  readonly Properties: any;
  readonly DeletionPolicy?: string;
  readonly DependsOn?: readonly string[];
}

/** Returns the resources of a type, by logical id. */
export const resourcesOf = (template: Template, type: string): Readonly<Record<string, Resource>> =>
  template.findResources(type) as Readonly<Record<string, Resource>>;
